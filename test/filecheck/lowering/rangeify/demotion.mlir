// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=metal}' | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=opencl}' | filecheck %s --check-prefix=F64
// RUN: tg-opt %s -p 'tg-to-source{target=metal}' -t metal | filecheck %s --check-prefix=METAL

// On a target without f64, what is f64 only between CASTs from and to narrower floats is f32: constants, comparisons and
// movement as well. A finite constant stays finite.

// CHECK-LABEL: tg.kernel @functions_0
// CHECK-NOT:     f64
// CHECK:         tg.const 3.40282347e+38 : tensor<f32>
// CHECK:         tg.cos %{{.*}} : tensor<f32>
// CHECK:         tg.mulacc {{.*}} : tensor<f32>
// CHECK:         tg.cast {{.*}} to f16 : tensor<f32> -> tensor<f16>
// CHECK-NOT:     f64
// CHECK-LABEL: func.func @functions
// F64:         tg.cos %{{.*}} : tensor<f64>
// METAL:       kernel void functions_0(
// METAL-NOT:   double
func.func @functions(%x: tensor<2x3xf32>, %b: tensor<3xi1>) -> (tensor<3x2xf32>, tensor<2x3xf16>) {
  %wide = tg.cast %x to f64 : tensor<2x3xf32> -> tensor<2x3xf64>
  %huge = tg.const 1.0e150 : tensor<f64>
  %is_huge = tg.cmplt %huge, %wide : (tensor<f64>, tensor<2x3xf64>) -> tensor<2x3xi1>
  %cos = tg.cos %wide : tensor<2x3xf64>
  %chosen = tg.where %is_huge, %huge, %cos : (tensor<2x3xi1>, tensor<f64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %bit = tg.cast %b to f64 : tensor<3xi1> -> tensor<3xf64>
  %sum = tg.mulacc %chosen, %bit, %huge : (tensor<2x3xf64>, tensor<3xf64>, tensor<f64>) -> tensor<2x3xf64>
  %turned = tg.permute %sum [1, 0] : tensor<2x3xf64> -> tensor<3x2xf64>
  %0 = tg.cast %turned to f32 : tensor<3x2xf64> -> tensor<3x2xf32>
  %invalid = tg.const invalid : tensor<f64>
  %valid = tg.where %b, %chosen, %invalid : (tensor<3xi1>, tensor<2x3xf64>, tensor<f64>) -> tensor<2x3xf64>
  %1 = tg.cast %valid to f16 : tensor<2x3xf64> -> tensor<2x3xf16>
  func.return %0, %1 : tensor<3x2xf32>, tensor<2x3xf16>
}

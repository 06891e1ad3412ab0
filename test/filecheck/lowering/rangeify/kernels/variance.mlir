// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify | filecheck %s

// The variance, which needs the mean first.

// Of each row.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<512x1000xf32>) -> tensor<512xf32> {
  %0 = tg.reduce add %x [1] : tensor<512x1000xf32> -> tensor<512x1xf32>
  %1 = tg.const 1.000000e-03 : tensor<f32>
  %2 = tg.mul %0, %1 : (tensor<512x1xf32>, tensor<f32>) -> tensor<512x1xf32>
  %3 = tg.sub %x, %2 : (tensor<512x1000xf32>, tensor<512x1xf32>) -> tensor<512x1000xf32>
  %4 = tg.mul %3, %3 : tensor<512x1000xf32>
  %5 = tg.reduce add %4 [1] : tensor<512x1000xf32> -> tensor<512x1xf32>
  %6 = tg.reshape %5 [512] : tensor<512x1xf32> -> tensor<512xf32>
  %7 = tg.const 0.00100100099 : tensor<f32>
  %8 = tg.mul %6, %7 : (tensor<512xf32>, tensor<f32>) -> tensor<512xf32>
  func.return %8 : tensor<512xf32>
}

// -----

// Of a whole matrix.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<64x100xf32>) -> tensor<f32> {
  %0 = tg.reduce add %x [0] : tensor<64x100xf32> -> tensor<1x100xf32>
  %1 = tg.reduce add %0 [1] : tensor<1x100xf32> -> tensor<1x1xf32>
  %2 = tg.const 1.562500e-04 : tensor<f32>
  %3 = tg.mul %1, %2 : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  %4 = tg.sub %x, %3 : (tensor<64x100xf32>, tensor<1x1xf32>) -> tensor<64x100xf32>
  %5 = tg.mul %4, %4 : tensor<64x100xf32>
  %6 = tg.reduce add %5 [1] : tensor<64x100xf32> -> tensor<64x1xf32>
  %7 = tg.reshape %6 [64] : tensor<64x1xf32> -> tensor<64xf32>
  %8 = tg.reduce add %7 [0] : tensor<64xf32> -> tensor<1xf32>
  %9 = tg.reshape %8 [] : tensor<1xf32> -> tensor<f32>
  %10 = tg.const 0.000156274415 : tensor<f32>
  %11 = tg.mul %9, %10 : tensor<f32>
  func.return %11 : tensor<f32>
}

// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify | filecheck %s

// The maximum of a row, the sum of its exponentials, and the logarithm of that.

// A short row.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %0 = tg.reduce max %x [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %1 = tg.sub %x, %0 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %2 = tg.const 1.44269502 : tensor<f32>
  %3 = tg.mul %1, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %4 = tg.exp2 %3 : tensor<2x4xf32>
  %5 = tg.reduce add %4 [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %6 = tg.log2 %5 : tensor<2x1xf32>
  %7 = tg.const 0.693147182 : tensor<f32>
  %8 = tg.mul %6, %7 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %9 = tg.add %8, %0 : tensor<2x1xf32>
  func.return %9 : tensor<2x1xf32>
}

// -----

// Rows of a thousand.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<512x1000xf32>) -> tensor<512x1xf32> {
  %0 = tg.reduce max %x [1] : tensor<512x1000xf32> -> tensor<512x1xf32>
  %1 = tg.sub %x, %0 : (tensor<512x1000xf32>, tensor<512x1xf32>) -> tensor<512x1000xf32>
  %2 = tg.const 1.44269502 : tensor<f32>
  %3 = tg.mul %1, %2 : (tensor<512x1000xf32>, tensor<f32>) -> tensor<512x1000xf32>
  %4 = tg.exp2 %3 : tensor<512x1000xf32>
  %5 = tg.reduce add %4 [1] : tensor<512x1000xf32> -> tensor<512x1xf32>
  %6 = tg.log2 %5 : tensor<512x1xf32>
  %7 = tg.const 0.693147182 : tensor<f32>
  %8 = tg.mul %6, %7 : (tensor<512x1xf32>, tensor<f32>) -> tensor<512x1xf32>
  %9 = tg.add %8, %0 : tensor<512x1xf32>
  func.return %9 : tensor<512x1xf32>
}

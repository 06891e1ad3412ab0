// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify | filecheck %s

// Layer normalization: two reductions of a row, and the row.

// A short row.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<2x4xf32>, %weight: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = tg.reduce add %x [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %1 = tg.const 2.500000e-01 : tensor<f32>
  %2 = tg.mul %0, %1 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %3 = tg.sub %x, %2 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %4 = tg.mul %3, %3 : tensor<2x4xf32>
  %5 = tg.reduce add %4 [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %6 = tg.const 2.500000e-01 : tensor<f32>
  %7 = tg.mul %5, %6 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %8 = tg.const 1.000000e-05 : tensor<f32>
  %9 = tg.add %7, %8 : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %10 = tg.sqrt %9 : tensor<2x1xf32>
  %11 = tg.div %3, %10 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %12 = tg.mul %11, %weight : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %13 = tg.add %12, %bias : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %13 : tensor<2x4xf32>
}

// -----

// Rows of a thousand.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<512x1000xf32>, %weight: tensor<1000xf32>, %bias: tensor<1000xf32>) -> tensor<512x1000xf32> {
  %0 = tg.reduce add %x [1] : tensor<512x1000xf32> -> tensor<512x1xf32>
  %1 = tg.const 1.000000e-03 : tensor<f32>
  %2 = tg.mul %0, %1 : (tensor<512x1xf32>, tensor<f32>) -> tensor<512x1xf32>
  %3 = tg.sub %x, %2 : (tensor<512x1000xf32>, tensor<512x1xf32>) -> tensor<512x1000xf32>
  %4 = tg.mul %3, %3 : tensor<512x1000xf32>
  %5 = tg.reduce add %4 [1] : tensor<512x1000xf32> -> tensor<512x1xf32>
  %6 = tg.const 1.000000e-03 : tensor<f32>
  %7 = tg.mul %5, %6 : (tensor<512x1xf32>, tensor<f32>) -> tensor<512x1xf32>
  %8 = tg.const 1.000000e-05 : tensor<f32>
  %9 = tg.add %7, %8 : (tensor<512x1xf32>, tensor<f32>) -> tensor<512x1xf32>
  %10 = tg.sqrt %9 : tensor<512x1xf32>
  %11 = tg.div %3, %10 : (tensor<512x1000xf32>, tensor<512x1xf32>) -> tensor<512x1000xf32>
  %12 = tg.mul %11, %weight : (tensor<512x1000xf32>, tensor<1000xf32>) -> tensor<512x1000xf32>
  %13 = tg.add %12, %bias : (tensor<512x1000xf32>, tensor<1000xf32>) -> tensor<512x1000xf32>
  func.return %13 : tensor<512x1000xf32>
}

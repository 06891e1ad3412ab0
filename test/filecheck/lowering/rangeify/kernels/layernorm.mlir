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

// -----

// Batch normalization: the loop over channels is the outer one.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%0: tensor<4x16x8x8xf32>) -> tensor<4x16x8x8xf32> {
  %1 = tg.reduce add %0 [0] : tensor<4x16x8x8xf32> -> tensor<1x16x8x8xf32>
  %2 = tg.reduce add %1 [2] : tensor<1x16x8x8xf32> -> tensor<1x16x1x8xf32>
  %3 = tg.reduce add %2 [3] : tensor<1x16x1x8xf32> -> tensor<1x16x1x1xf32>
  %4 = tg.const 3.906250e-03 : tensor<f32>
  %5 = tg.mul %3, %4 : (tensor<1x16x1x1xf32>, tensor<f32>) -> tensor<1x16x1x1xf32>
  %6 = tg.sub %0, %5 : (tensor<4x16x8x8xf32>, tensor<1x16x1x1xf32>) -> tensor<4x16x8x8xf32>
  %7 = tg.mul %6, %6 : tensor<4x16x8x8xf32>
  %8 = tg.reduce add %7 [0] : tensor<4x16x8x8xf32> -> tensor<1x16x8x8xf32>
  %9 = tg.reduce add %8 [2] : tensor<1x16x8x8xf32> -> tensor<1x16x1x8xf32>
  %10 = tg.reduce add %9 [3] : tensor<1x16x1x8xf32> -> tensor<1x16x1x1xf32>
  %11 = tg.const 3.906250e-03 : tensor<f32>
  %12 = tg.mul %10, %11 : (tensor<1x16x1x1xf32>, tensor<f32>) -> tensor<1x16x1x1xf32>
  %13 = tg.const 1.000000e-05 : tensor<f32>
  %14 = tg.add %12, %13 : (tensor<1x16x1x1xf32>, tensor<f32>) -> tensor<1x16x1x1xf32>
  %15 = tg.sqrt %14 : tensor<1x16x1x1xf32>
  %16 = tg.div %6, %15 : (tensor<4x16x8x8xf32>, tensor<1x16x1x1xf32>) -> tensor<4x16x8x8xf32>
  func.return %16 : tensor<4x16x8x8xf32>
}

// -----

// Group normalization: the loop over channels is two, that over groups and that within one.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%0: tensor<4x16x8x8xf32>, %1: tensor<16xf32>, %2: tensor<16xf32>) -> tensor<4x16x8x8xf32> {
  %3 = tg.reshape %0 [4, 4, 4, 64] : tensor<4x16x8x8xf32> -> tensor<4x4x4x64xf32>
  %4 = tg.reduce add %3 [2] : tensor<4x4x4x64xf32> -> tensor<4x4x1x64xf32>
  %5 = tg.reduce add %4 [3] : tensor<4x4x1x64xf32> -> tensor<4x4x1x1xf32>
  %6 = tg.const 3.906250e-03 : tensor<f32>
  %7 = tg.mul %5, %6 : (tensor<4x4x1x1xf32>, tensor<f32>) -> tensor<4x4x1x1xf32>
  %8 = tg.sub %3, %7 : (tensor<4x4x4x64xf32>, tensor<4x4x1x1xf32>) -> tensor<4x4x4x64xf32>
  %9 = tg.mul %8, %8 : tensor<4x4x4x64xf32>
  %10 = tg.reduce add %9 [2] : tensor<4x4x4x64xf32> -> tensor<4x4x1x64xf32>
  %11 = tg.reduce add %10 [3] : tensor<4x4x1x64xf32> -> tensor<4x4x1x1xf32>
  %12 = tg.const 3.906250e-03 : tensor<f32>
  %13 = tg.mul %11, %12 : (tensor<4x4x1x1xf32>, tensor<f32>) -> tensor<4x4x1x1xf32>
  %14 = tg.const 1.000000e-05 : tensor<f32>
  %15 = tg.add %13, %14 : (tensor<4x4x1x1xf32>, tensor<f32>) -> tensor<4x4x1x1xf32>
  %16 = tg.sqrt %15 : tensor<4x4x1x1xf32>
  %17 = tg.div %8, %16 : (tensor<4x4x4x64xf32>, tensor<4x4x1x1xf32>) -> tensor<4x4x4x64xf32>
  %18 = tg.reshape %17 [4, 16, 8, 8] : tensor<4x4x4x64xf32> -> tensor<4x16x8x8xf32>
  %19 = tg.reshape %1 [1, 16, 1, 1] : tensor<16xf32> -> tensor<1x16x1x1xf32>
  %20 = tg.mul %18, %19 : (tensor<4x16x8x8xf32>, tensor<1x16x1x1xf32>) -> tensor<4x16x8x8xf32>
  %21 = tg.reshape %2 [1, 16, 1, 1] : tensor<16xf32> -> tensor<1x16x1x1xf32>
  %22 = tg.add %20, %21 : (tensor<4x16x8x8xf32>, tensor<1x16x1x1xf32>) -> tensor<4x16x8x8xf32>
  func.return %22 : tensor<4x16x8x8xf32>
}

// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify | filecheck %s

// RMS normalization and a linear layer: two kernels. A normalized row is computed once, into a buffer, and
// then multiplied with each column: the second kernel is a product of matrices in tiles.

// One token.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK: tg.kernel @main_1
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<1x4096xf32>, %weight: tensor<4096xf32>, %matrix: tensor<4096x4096xf32>) -> tensor<1x4096xf32> {
  %0 = tg.mul %x, %x : tensor<1x4096xf32>
  %1 = tg.reduce add %0 [1] : tensor<1x4096xf32> -> tensor<1x1xf32>
  %2 = tg.const 0.000244140625 : tensor<f32>
  %3 = tg.mul %1, %2 : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  %4 = tg.const 1.000000e-05 : tensor<f32>
  %5 = tg.add %3, %4 : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  %6 = tg.sqrt %5 : tensor<1x1xf32>
  %7 = tg.div %x, %6 : (tensor<1x4096xf32>, tensor<1x1xf32>) -> tensor<1x4096xf32>
  %8 = tg.mul %7, %weight : (tensor<1x4096xf32>, tensor<4096xf32>) -> tensor<1x4096xf32>
  %9 = tg.reshape %8 [1, 4096, 1] : tensor<1x4096xf32> -> tensor<1x4096x1xf32>
  %10 = tg.reshape %matrix [1, 4096, 4096] : tensor<4096x4096xf32> -> tensor<1x4096x4096xf32>
  %11 = tg.mul %9, %10 : (tensor<1x4096x1xf32>, tensor<1x4096x4096xf32>) -> tensor<1x4096x4096xf32>
  %12 = tg.reduce add %11 [1] : tensor<1x4096x4096xf32> -> tensor<1x1x4096xf32>
  %13 = tg.reshape %12 [1, 4096] : tensor<1x1x4096xf32> -> tensor<1x4096xf32>
  func.return %13 : tensor<1x4096xf32>
}

// -----

// A batch.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK: tg.kernel @main_1
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<512x1000xf32>, %weight: tensor<1000xf32>, %matrix: tensor<1000x300xf32>) -> tensor<512x300xf32> {
  %0 = tg.mul %x, %x : tensor<512x1000xf32>
  %1 = tg.reduce add %0 [1] : tensor<512x1000xf32> -> tensor<512x1xf32>
  %2 = tg.const 1.000000e-03 : tensor<f32>
  %3 = tg.mul %1, %2 : (tensor<512x1xf32>, tensor<f32>) -> tensor<512x1xf32>
  %4 = tg.const 1.000000e-05 : tensor<f32>
  %5 = tg.add %3, %4 : (tensor<512x1xf32>, tensor<f32>) -> tensor<512x1xf32>
  %6 = tg.sqrt %5 : tensor<512x1xf32>
  %7 = tg.div %x, %6 : (tensor<512x1000xf32>, tensor<512x1xf32>) -> tensor<512x1000xf32>
  %8 = tg.mul %7, %weight : (tensor<512x1000xf32>, tensor<1000xf32>) -> tensor<512x1000xf32>
  %9 = tg.reshape %8 [512, 1000, 1] : tensor<512x1000xf32> -> tensor<512x1000x1xf32>
  %10 = tg.reshape %matrix [1, 1000, 300] : tensor<1000x300xf32> -> tensor<1x1000x300xf32>
  %11 = tg.mul %9, %10 : (tensor<512x1000x1xf32>, tensor<1x1000x300xf32>) -> tensor<512x1000x300xf32>
  %12 = tg.reduce add %11 [1] : tensor<512x1000x300xf32> -> tensor<512x1x300xf32>
  %13 = tg.reshape %12 [512, 300] : tensor<512x1x300xf32> -> tensor<512x300xf32>
  func.return %13 : tensor<512x300xf32>
}

// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify | filecheck %s

// Linear, GELU, linear: one kernel for each matrix. GELU is computed once for each of its elements.

// A small layer.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK: tg.kernel @main_1
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<2x4xf32>, %w1: tensor<4x8xf32>, %b1: tensor<8xf32>, %w2: tensor<8x4xf32>, %b2: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = tg.reshape %x [2, 4, 1] : tensor<2x4xf32> -> tensor<2x4x1xf32>
  %1 = tg.reshape %w1 [1, 4, 8] : tensor<4x8xf32> -> tensor<1x4x8xf32>
  %2 = tg.mul %0, %1 : (tensor<2x4x1xf32>, tensor<1x4x8xf32>) -> tensor<2x4x8xf32>
  %3 = tg.reduce add %2 [1] : tensor<2x4x8xf32> -> tensor<2x1x8xf32>
  %4 = tg.reshape %3 [2, 8] : tensor<2x1x8xf32> -> tensor<2x8xf32>
  %5 = tg.add %4, %b1 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %6 = tg.mul %5, %5 : tensor<2x8xf32>
  %7 = tg.mul %6, %5 : tensor<2x8xf32>
  %8 = tg.const 4.471500e-02 : tensor<f32>
  %9 = tg.mul %7, %8 : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %10 = tg.add %5, %9 : tensor<2x8xf32>
  %11 = tg.const 0.797884583 : tensor<f32>
  %12 = tg.mul %10, %11 : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %13 = tg.const 2.885390e+00 : tensor<f32>
  %14 = tg.mul %12, %13 : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %15 = tg.exp2 %14 : tensor<2x8xf32>
  %16 = tg.const 1.000000e+00 : tensor<f32>
  %17 = tg.sub %15, %16 : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %18 = tg.const 1.000000e+00 : tensor<f32>
  %19 = tg.add %15, %18 : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %20 = tg.div %17, %19 : tensor<2x8xf32>
  %21 = tg.const 1.000000e+00 : tensor<f32>
  %22 = tg.add %20, %21 : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %23 = tg.mul %5, %22 : tensor<2x8xf32>
  %24 = tg.const 5.000000e-01 : tensor<f32>
  %25 = tg.mul %23, %24 : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %26 = tg.reshape %25 [2, 8, 1] : tensor<2x8xf32> -> tensor<2x8x1xf32>
  %27 = tg.reshape %w2 [1, 8, 4] : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %28 = tg.mul %26, %27 : (tensor<2x8x1xf32>, tensor<1x8x4xf32>) -> tensor<2x8x4xf32>
  %29 = tg.reduce add %28 [1] : tensor<2x8x4xf32> -> tensor<2x1x4xf32>
  %30 = tg.reshape %29 [2, 4] : tensor<2x1x4xf32> -> tensor<2x4xf32>
  %31 = tg.add %30, %b2 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %31 : tensor<2x4xf32>
}

// -----

// That of a transformer.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK: tg.kernel @main_1
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<512x768xf32>, %w1: tensor<768x3072xf32>, %b1: tensor<3072xf32>, %w2: tensor<3072x768xf32>, %b2: tensor<768xf32>) -> tensor<512x768xf32> {
  %0 = tg.reshape %x [512, 768, 1] : tensor<512x768xf32> -> tensor<512x768x1xf32>
  %1 = tg.reshape %w1 [1, 768, 3072] : tensor<768x3072xf32> -> tensor<1x768x3072xf32>
  %2 = tg.mul %0, %1 : (tensor<512x768x1xf32>, tensor<1x768x3072xf32>) -> tensor<512x768x3072xf32>
  %3 = tg.reduce add %2 [1] : tensor<512x768x3072xf32> -> tensor<512x1x3072xf32>
  %4 = tg.reshape %3 [512, 3072] : tensor<512x1x3072xf32> -> tensor<512x3072xf32>
  %5 = tg.add %4, %b1 : (tensor<512x3072xf32>, tensor<3072xf32>) -> tensor<512x3072xf32>
  %6 = tg.mul %5, %5 : tensor<512x3072xf32>
  %7 = tg.mul %6, %5 : tensor<512x3072xf32>
  %8 = tg.const 4.471500e-02 : tensor<f32>
  %9 = tg.mul %7, %8 : (tensor<512x3072xf32>, tensor<f32>) -> tensor<512x3072xf32>
  %10 = tg.add %5, %9 : tensor<512x3072xf32>
  %11 = tg.const 0.797884583 : tensor<f32>
  %12 = tg.mul %10, %11 : (tensor<512x3072xf32>, tensor<f32>) -> tensor<512x3072xf32>
  %13 = tg.const 2.885390e+00 : tensor<f32>
  %14 = tg.mul %12, %13 : (tensor<512x3072xf32>, tensor<f32>) -> tensor<512x3072xf32>
  %15 = tg.exp2 %14 : tensor<512x3072xf32>
  %16 = tg.const 1.000000e+00 : tensor<f32>
  %17 = tg.sub %15, %16 : (tensor<512x3072xf32>, tensor<f32>) -> tensor<512x3072xf32>
  %18 = tg.const 1.000000e+00 : tensor<f32>
  %19 = tg.add %15, %18 : (tensor<512x3072xf32>, tensor<f32>) -> tensor<512x3072xf32>
  %20 = tg.div %17, %19 : tensor<512x3072xf32>
  %21 = tg.const 1.000000e+00 : tensor<f32>
  %22 = tg.add %20, %21 : (tensor<512x3072xf32>, tensor<f32>) -> tensor<512x3072xf32>
  %23 = tg.mul %5, %22 : tensor<512x3072xf32>
  %24 = tg.const 5.000000e-01 : tensor<f32>
  %25 = tg.mul %23, %24 : (tensor<512x3072xf32>, tensor<f32>) -> tensor<512x3072xf32>
  %26 = tg.reshape %25 [512, 3072, 1] : tensor<512x3072xf32> -> tensor<512x3072x1xf32>
  %27 = tg.reshape %w2 [1, 3072, 768] : tensor<3072x768xf32> -> tensor<1x3072x768xf32>
  %28 = tg.mul %26, %27 : (tensor<512x3072x1xf32>, tensor<1x3072x768xf32>) -> tensor<512x3072x768xf32>
  %29 = tg.reduce add %28 [1] : tensor<512x3072x768xf32> -> tensor<512x1x768xf32>
  %30 = tg.reshape %29 [512, 768] : tensor<512x1x768xf32> -> tensor<512x768xf32>
  %31 = tg.add %30, %b2 : (tensor<512x768xf32>, tensor<768xf32>) -> tensor<512x768xf32>
  func.return %31 : tensor<512x768xf32>
}

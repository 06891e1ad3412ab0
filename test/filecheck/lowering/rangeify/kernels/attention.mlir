// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify | filecheck %s

// Scaled dot-product attention: one kernel over blocks of scores; with fewer scores than a block has
// at least, two or three. Short rows of scores stay in the kernel that normalizes them.

// A short sequence: scores and softmax are one kernel.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK: tg.kernel @main_1
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32> {
  %0 = tg.permute %k [0, 1, 3, 2] : tensor<2x4x16x8xf32> -> tensor<2x4x8x16xf32>
  %1 = tg.reshape %q [2, 4, 16, 8, 1] : tensor<2x4x16x8xf32> -> tensor<2x4x16x8x1xf32>
  %2 = tg.reshape %0 [2, 4, 1, 8, 16] : tensor<2x4x8x16xf32> -> tensor<2x4x1x8x16xf32>
  %3 = tg.mul %1, %2 : (tensor<2x4x16x8x1xf32>, tensor<2x4x1x8x16xf32>) -> tensor<2x4x16x8x16xf32>
  %4 = tg.reduce add %3 [3] : tensor<2x4x16x8x16xf32> -> tensor<2x4x16x1x16xf32>
  %5 = tg.reshape %4 [2, 4, 16, 16] : tensor<2x4x16x1x16xf32> -> tensor<2x4x16x16xf32>
  %6 = tg.const 0.353553385 : tensor<f32>
  %7 = tg.mul %5, %6 : (tensor<2x4x16x16xf32>, tensor<f32>) -> tensor<2x4x16x16xf32>
  %8 = tg.reduce max %7 [3] : tensor<2x4x16x16xf32> -> tensor<2x4x16x1xf32>
  %9 = tg.sub %7, %8 : (tensor<2x4x16x16xf32>, tensor<2x4x16x1xf32>) -> tensor<2x4x16x16xf32>
  %10 = tg.const 1.44269502 : tensor<f32>
  %11 = tg.mul %9, %10 : (tensor<2x4x16x16xf32>, tensor<f32>) -> tensor<2x4x16x16xf32>
  %12 = tg.exp2 %11 : tensor<2x4x16x16xf32>
  %13 = tg.reduce add %12 [3] : tensor<2x4x16x16xf32> -> tensor<2x4x16x1xf32>
  %14 = tg.div %12, %13 : (tensor<2x4x16x16xf32>, tensor<2x4x16x1xf32>) -> tensor<2x4x16x16xf32>
  %15 = tg.reshape %14 [2, 4, 16, 16, 1] : tensor<2x4x16x16xf32> -> tensor<2x4x16x16x1xf32>
  %16 = tg.reshape %v [2, 4, 1, 16, 8] : tensor<2x4x16x8xf32> -> tensor<2x4x1x16x8xf32>
  %17 = tg.mul %15, %16 : (tensor<2x4x16x16x1xf32>, tensor<2x4x1x16x8xf32>) -> tensor<2x4x16x16x8xf32>
  %18 = tg.reduce add %17 [3] : tensor<2x4x16x16x8xf32> -> tensor<2x4x16x1x8xf32>
  %19 = tg.reshape %18 [2, 4, 16, 8] : tensor<2x4x16x1x8xf32> -> tensor<2x4x16x8xf32>
  func.return %19 : tensor<2x4x16x8xf32>
}

// -----

// A long one: scores, softmax, and the product with the values, in each of some blocks.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK: tg.buffer {{.*}} #tg.place<local>
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%q: tensor<4x12x1024x64xf32>, %k: tensor<4x12x1024x64xf32>, %v: tensor<4x12x1024x64xf32>) -> tensor<4x12x1024x64xf32> {
  %0 = tg.permute %k [0, 1, 3, 2] : tensor<4x12x1024x64xf32> -> tensor<4x12x64x1024xf32>
  %1 = tg.reshape %q [4, 12, 1024, 64, 1] : tensor<4x12x1024x64xf32> -> tensor<4x12x1024x64x1xf32>
  %2 = tg.reshape %0 [4, 12, 1, 64, 1024] : tensor<4x12x64x1024xf32> -> tensor<4x12x1x64x1024xf32>
  %3 = tg.mul %1, %2 : (tensor<4x12x1024x64x1xf32>, tensor<4x12x1x64x1024xf32>) -> tensor<4x12x1024x64x1024xf32>
  %4 = tg.reduce add %3 [3] : tensor<4x12x1024x64x1024xf32> -> tensor<4x12x1024x1x1024xf32>
  %5 = tg.reshape %4 [4, 12, 1024, 1024] : tensor<4x12x1024x1x1024xf32> -> tensor<4x12x1024x1024xf32>
  %6 = tg.const 1.250000e-01 : tensor<f32>
  %7 = tg.mul %5, %6 : (tensor<4x12x1024x1024xf32>, tensor<f32>) -> tensor<4x12x1024x1024xf32>
  %8 = tg.reduce max %7 [3] : tensor<4x12x1024x1024xf32> -> tensor<4x12x1024x1xf32>
  %9 = tg.sub %7, %8 : (tensor<4x12x1024x1024xf32>, tensor<4x12x1024x1xf32>) -> tensor<4x12x1024x1024xf32>
  %10 = tg.const 1.44269502 : tensor<f32>
  %11 = tg.mul %9, %10 : (tensor<4x12x1024x1024xf32>, tensor<f32>) -> tensor<4x12x1024x1024xf32>
  %12 = tg.exp2 %11 : tensor<4x12x1024x1024xf32>
  %13 = tg.reduce add %12 [3] : tensor<4x12x1024x1024xf32> -> tensor<4x12x1024x1xf32>
  %14 = tg.div %12, %13 : (tensor<4x12x1024x1024xf32>, tensor<4x12x1024x1xf32>) -> tensor<4x12x1024x1024xf32>
  %15 = tg.reshape %14 [4, 12, 1024, 1024, 1] : tensor<4x12x1024x1024xf32> -> tensor<4x12x1024x1024x1xf32>
  %16 = tg.reshape %v [4, 12, 1, 1024, 64] : tensor<4x12x1024x64xf32> -> tensor<4x12x1x1024x64xf32>
  %17 = tg.mul %15, %16 : (tensor<4x12x1024x1024x1xf32>, tensor<4x12x1x1024x64xf32>) -> tensor<4x12x1024x1024x64xf32>
  %18 = tg.reduce add %17 [3] : tensor<4x12x1024x1024x64xf32> -> tensor<4x12x1024x1x64xf32>
  %19 = tg.reshape %18 [4, 12, 1024, 64] : tensor<4x12x1024x1x64xf32> -> tensor<4x12x1024x64xf32>
  func.return %19 : tensor<4x12x1024x64xf32>
}

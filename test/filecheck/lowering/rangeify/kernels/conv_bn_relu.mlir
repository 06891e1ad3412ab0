// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify | filecheck %s

// Convolution, batch normalization with known statistics, and ReLU.

// 3x3 on a small image.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<2x3x8x8xf32>, %filter: tensor<4x3x3x3xf32>, %mean: tensor<4xf32>, %variance: tensor<4xf32>, %weight: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<2x4x6x6xf32> {
  %0 = tg.reshape %x [2, 3, 1, 8, 8] : tensor<2x3x8x8xf32> -> tensor<2x3x1x8x8xf32>
  %1 = tg.expand %0 [2, 3, 3, 8, 8] : tensor<2x3x1x8x8xf32> -> tensor<2x3x3x8x8xf32>
  %2 = tg.pad %1 at [0, 0, 0, 0, 0] to [2, 3, 3, 9, 8] : tensor<2x3x3x8x8xf32> -> tensor<2x3x3x9x8xf32>
  %3 = tg.reshape %2 [2, 3, 27, 8] : tensor<2x3x3x9x8xf32> -> tensor<2x3x27x8xf32>
  %4 = tg.shrink %3 at [0, 0, 0, 0] to [2, 3, 24, 8] : tensor<2x3x27x8xf32> -> tensor<2x3x24x8xf32>
  %5 = tg.reshape %4 [2, 3, 3, 8, 8] : tensor<2x3x24x8xf32> -> tensor<2x3x3x8x8xf32>
  %6 = tg.shrink %5 at [0, 0, 0, 0, 0] to [2, 3, 3, 6, 8] : tensor<2x3x3x8x8xf32> -> tensor<2x3x3x6x8xf32>
  %7 = tg.reshape %6 [2, 3, 3, 6, 1, 8] : tensor<2x3x3x6x8xf32> -> tensor<2x3x3x6x1x8xf32>
  %8 = tg.expand %7 [2, 3, 3, 6, 3, 8] : tensor<2x3x3x6x1x8xf32> -> tensor<2x3x3x6x3x8xf32>
  %9 = tg.pad %8 at [0, 0, 0, 0, 0, 0] to [2, 3, 3, 6, 3, 9] : tensor<2x3x3x6x3x8xf32> -> tensor<2x3x3x6x3x9xf32>
  %10 = tg.reshape %9 [2, 3, 3, 6, 27] : tensor<2x3x3x6x3x9xf32> -> tensor<2x3x3x6x27xf32>
  %11 = tg.shrink %10 at [0, 0, 0, 0, 0] to [2, 3, 3, 6, 24] : tensor<2x3x3x6x27xf32> -> tensor<2x3x3x6x24xf32>
  %12 = tg.reshape %11 [2, 3, 3, 6, 3, 8] : tensor<2x3x3x6x24xf32> -> tensor<2x3x3x6x3x8xf32>
  %13 = tg.shrink %12 at [0, 0, 0, 0, 0, 0] to [2, 3, 3, 6, 3, 6] : tensor<2x3x3x6x3x8xf32> -> tensor<2x3x3x6x3x6xf32>
  %14 = tg.permute %13 [0, 3, 5, 1, 2, 4] : tensor<2x3x3x6x3x6xf32> -> tensor<2x6x6x3x3x3xf32>
  %15 = tg.reshape %14 [2, 1, 6, 6, 3, 3, 3] : tensor<2x6x6x3x3x3xf32> -> tensor<2x1x6x6x3x3x3xf32>
  %16 = tg.reshape %filter [1, 4, 1, 1, 3, 3, 3] : tensor<4x3x3x3xf32> -> tensor<1x4x1x1x3x3x3xf32>
  %17 = tg.mul %15, %16 : (tensor<2x1x6x6x3x3x3xf32>, tensor<1x4x1x1x3x3x3xf32>) -> tensor<2x4x6x6x3x3x3xf32>
  %18 = tg.reduce add %17 [6] : tensor<2x4x6x6x3x3x3xf32> -> tensor<2x4x6x6x3x3x1xf32>
  %19 = tg.reshape %18 [2, 4, 6, 6, 3, 3] : tensor<2x4x6x6x3x3x1xf32> -> tensor<2x4x6x6x3x3xf32>
  %20 = tg.reduce add %19 [5] : tensor<2x4x6x6x3x3xf32> -> tensor<2x4x6x6x3x1xf32>
  %21 = tg.reshape %20 [2, 4, 6, 6, 3] : tensor<2x4x6x6x3x1xf32> -> tensor<2x4x6x6x3xf32>
  %22 = tg.reduce add %21 [4] : tensor<2x4x6x6x3xf32> -> tensor<2x4x6x6x1xf32>
  %23 = tg.reshape %22 [2, 4, 6, 6] : tensor<2x4x6x6x1xf32> -> tensor<2x4x6x6xf32>
  %24 = tg.reshape %mean [1, 4, 1, 1] : tensor<4xf32> -> tensor<1x4x1x1xf32>
  %25 = tg.sub %23, %24 : (tensor<2x4x6x6xf32>, tensor<1x4x1x1xf32>) -> tensor<2x4x6x6xf32>
  %26 = tg.reshape %variance [1, 4, 1, 1] : tensor<4xf32> -> tensor<1x4x1x1xf32>
  %27 = tg.const 1.000000e-05 : tensor<f32>
  %28 = tg.add %26, %27 : (tensor<1x4x1x1xf32>, tensor<f32>) -> tensor<1x4x1x1xf32>
  %29 = tg.sqrt %28 : tensor<1x4x1x1xf32>
  %30 = tg.div %25, %29 : (tensor<2x4x6x6xf32>, tensor<1x4x1x1xf32>) -> tensor<2x4x6x6xf32>
  %31 = tg.reshape %weight [1, 4, 1, 1] : tensor<4xf32> -> tensor<1x4x1x1xf32>
  %32 = tg.mul %30, %31 : (tensor<2x4x6x6xf32>, tensor<1x4x1x1xf32>) -> tensor<2x4x6x6xf32>
  %33 = tg.reshape %bias [1, 4, 1, 1] : tensor<4xf32> -> tensor<1x4x1x1xf32>
  %34 = tg.add %32, %33 : (tensor<2x4x6x6xf32>, tensor<1x4x1x1xf32>) -> tensor<2x4x6x6xf32>
  %35 = tg.const 0.000000e+00 : tensor<f32>
  %36 = tg.max %34, %35 : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  func.return %36 : tensor<2x4x6x6xf32>
}

// -----

// 3x3 on a large one.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<8x64x56x56xf32>, %filter: tensor<64x64x3x3xf32>, %mean: tensor<64xf32>, %variance: tensor<64xf32>, %weight: tensor<64xf32>, %bias: tensor<64xf32>) -> tensor<8x64x54x54xf32> {
  %0 = tg.reshape %x [8, 64, 1, 56, 56] : tensor<8x64x56x56xf32> -> tensor<8x64x1x56x56xf32>
  %1 = tg.expand %0 [8, 64, 3, 56, 56] : tensor<8x64x1x56x56xf32> -> tensor<8x64x3x56x56xf32>
  %2 = tg.pad %1 at [0, 0, 0, 0, 0] to [8, 64, 3, 57, 56] : tensor<8x64x3x56x56xf32> -> tensor<8x64x3x57x56xf32>
  %3 = tg.reshape %2 [8, 64, 171, 56] : tensor<8x64x3x57x56xf32> -> tensor<8x64x171x56xf32>
  %4 = tg.shrink %3 at [0, 0, 0, 0] to [8, 64, 168, 56] : tensor<8x64x171x56xf32> -> tensor<8x64x168x56xf32>
  %5 = tg.reshape %4 [8, 64, 3, 56, 56] : tensor<8x64x168x56xf32> -> tensor<8x64x3x56x56xf32>
  %6 = tg.shrink %5 at [0, 0, 0, 0, 0] to [8, 64, 3, 54, 56] : tensor<8x64x3x56x56xf32> -> tensor<8x64x3x54x56xf32>
  %7 = tg.reshape %6 [8, 64, 3, 54, 1, 56] : tensor<8x64x3x54x56xf32> -> tensor<8x64x3x54x1x56xf32>
  %8 = tg.expand %7 [8, 64, 3, 54, 3, 56] : tensor<8x64x3x54x1x56xf32> -> tensor<8x64x3x54x3x56xf32>
  %9 = tg.pad %8 at [0, 0, 0, 0, 0, 0] to [8, 64, 3, 54, 3, 57] : tensor<8x64x3x54x3x56xf32> -> tensor<8x64x3x54x3x57xf32>
  %10 = tg.reshape %9 [8, 64, 3, 54, 171] : tensor<8x64x3x54x3x57xf32> -> tensor<8x64x3x54x171xf32>
  %11 = tg.shrink %10 at [0, 0, 0, 0, 0] to [8, 64, 3, 54, 168] : tensor<8x64x3x54x171xf32> -> tensor<8x64x3x54x168xf32>
  %12 = tg.reshape %11 [8, 64, 3, 54, 3, 56] : tensor<8x64x3x54x168xf32> -> tensor<8x64x3x54x3x56xf32>
  %13 = tg.shrink %12 at [0, 0, 0, 0, 0, 0] to [8, 64, 3, 54, 3, 54] : tensor<8x64x3x54x3x56xf32> -> tensor<8x64x3x54x3x54xf32>
  %14 = tg.permute %13 [0, 3, 5, 1, 2, 4] : tensor<8x64x3x54x3x54xf32> -> tensor<8x54x54x64x3x3xf32>
  %15 = tg.reshape %14 [8, 1, 54, 54, 64, 3, 3] : tensor<8x54x54x64x3x3xf32> -> tensor<8x1x54x54x64x3x3xf32>
  %16 = tg.reshape %filter [1, 64, 1, 1, 64, 3, 3] : tensor<64x64x3x3xf32> -> tensor<1x64x1x1x64x3x3xf32>
  %17 = tg.mul %15, %16 : (tensor<8x1x54x54x64x3x3xf32>, tensor<1x64x1x1x64x3x3xf32>) -> tensor<8x64x54x54x64x3x3xf32>
  %18 = tg.reduce add %17 [6] : tensor<8x64x54x54x64x3x3xf32> -> tensor<8x64x54x54x64x3x1xf32>
  %19 = tg.reshape %18 [8, 64, 54, 54, 64, 3] : tensor<8x64x54x54x64x3x1xf32> -> tensor<8x64x54x54x64x3xf32>
  %20 = tg.reduce add %19 [5] : tensor<8x64x54x54x64x3xf32> -> tensor<8x64x54x54x64x1xf32>
  %21 = tg.reshape %20 [8, 64, 54, 54, 64] : tensor<8x64x54x54x64x1xf32> -> tensor<8x64x54x54x64xf32>
  %22 = tg.reduce add %21 [4] : tensor<8x64x54x54x64xf32> -> tensor<8x64x54x54x1xf32>
  %23 = tg.reshape %22 [8, 64, 54, 54] : tensor<8x64x54x54x1xf32> -> tensor<8x64x54x54xf32>
  %24 = tg.reshape %mean [1, 64, 1, 1] : tensor<64xf32> -> tensor<1x64x1x1xf32>
  %25 = tg.sub %23, %24 : (tensor<8x64x54x54xf32>, tensor<1x64x1x1xf32>) -> tensor<8x64x54x54xf32>
  %26 = tg.reshape %variance [1, 64, 1, 1] : tensor<64xf32> -> tensor<1x64x1x1xf32>
  %27 = tg.const 1.000000e-05 : tensor<f32>
  %28 = tg.add %26, %27 : (tensor<1x64x1x1xf32>, tensor<f32>) -> tensor<1x64x1x1xf32>
  %29 = tg.sqrt %28 : tensor<1x64x1x1xf32>
  %30 = tg.div %25, %29 : (tensor<8x64x54x54xf32>, tensor<1x64x1x1xf32>) -> tensor<8x64x54x54xf32>
  %31 = tg.reshape %weight [1, 64, 1, 1] : tensor<64xf32> -> tensor<1x64x1x1xf32>
  %32 = tg.mul %30, %31 : (tensor<8x64x54x54xf32>, tensor<1x64x1x1xf32>) -> tensor<8x64x54x54xf32>
  %33 = tg.reshape %bias [1, 64, 1, 1] : tensor<64xf32> -> tensor<1x64x1x1xf32>
  %34 = tg.add %32, %33 : (tensor<8x64x54x54xf32>, tensor<1x64x1x1xf32>) -> tensor<8x64x54x54xf32>
  %35 = tg.const 0.000000e+00 : tensor<f32>
  %36 = tg.max %34, %35 : (tensor<8x64x54x54xf32>, tensor<f32>) -> tensor<8x64x54x54xf32>
  func.return %36 : tensor<8x64x54x54xf32>
}

// -----

// 1x1.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<8x64x56x56xf32>, %filter: tensor<128x64x1x1xf32>, %mean: tensor<128xf32>, %variance: tensor<128xf32>, %weight: tensor<128xf32>, %bias: tensor<128xf32>) -> tensor<8x128x56x56xf32> {
  %0 = tg.reshape %x [8, 64, 1, 56, 56] : tensor<8x64x56x56xf32> -> tensor<8x64x1x56x56xf32>
  %1 = tg.expand %0 [8, 64, 1, 56, 56] : tensor<8x64x1x56x56xf32> -> tensor<8x64x1x56x56xf32>
  %2 = tg.pad %1 at [0, 0, 0, 0, 0] to [8, 64, 1, 57, 56] : tensor<8x64x1x56x56xf32> -> tensor<8x64x1x57x56xf32>
  %3 = tg.reshape %2 [8, 64, 57, 56] : tensor<8x64x1x57x56xf32> -> tensor<8x64x57x56xf32>
  %4 = tg.shrink %3 at [0, 0, 0, 0] to [8, 64, 56, 56] : tensor<8x64x57x56xf32> -> tensor<8x64x56x56xf32>
  %5 = tg.reshape %4 [8, 64, 1, 56, 56] : tensor<8x64x56x56xf32> -> tensor<8x64x1x56x56xf32>
  %6 = tg.shrink %5 at [0, 0, 0, 0, 0] to [8, 64, 1, 56, 56] : tensor<8x64x1x56x56xf32> -> tensor<8x64x1x56x56xf32>
  %7 = tg.reshape %6 [8, 64, 1, 56, 1, 56] : tensor<8x64x1x56x56xf32> -> tensor<8x64x1x56x1x56xf32>
  %8 = tg.expand %7 [8, 64, 1, 56, 1, 56] : tensor<8x64x1x56x1x56xf32> -> tensor<8x64x1x56x1x56xf32>
  %9 = tg.pad %8 at [0, 0, 0, 0, 0, 0] to [8, 64, 1, 56, 1, 57] : tensor<8x64x1x56x1x56xf32> -> tensor<8x64x1x56x1x57xf32>
  %10 = tg.reshape %9 [8, 64, 1, 56, 57] : tensor<8x64x1x56x1x57xf32> -> tensor<8x64x1x56x57xf32>
  %11 = tg.shrink %10 at [0, 0, 0, 0, 0] to [8, 64, 1, 56, 56] : tensor<8x64x1x56x57xf32> -> tensor<8x64x1x56x56xf32>
  %12 = tg.reshape %11 [8, 64, 1, 56, 1, 56] : tensor<8x64x1x56x56xf32> -> tensor<8x64x1x56x1x56xf32>
  %13 = tg.shrink %12 at [0, 0, 0, 0, 0, 0] to [8, 64, 1, 56, 1, 56] : tensor<8x64x1x56x1x56xf32> -> tensor<8x64x1x56x1x56xf32>
  %14 = tg.permute %13 [0, 3, 5, 1, 2, 4] : tensor<8x64x1x56x1x56xf32> -> tensor<8x56x56x64x1x1xf32>
  %15 = tg.reshape %14 [8, 1, 56, 56, 64, 1, 1] : tensor<8x56x56x64x1x1xf32> -> tensor<8x1x56x56x64x1x1xf32>
  %16 = tg.reshape %filter [1, 128, 1, 1, 64, 1, 1] : tensor<128x64x1x1xf32> -> tensor<1x128x1x1x64x1x1xf32>
  %17 = tg.mul %15, %16 : (tensor<8x1x56x56x64x1x1xf32>, tensor<1x128x1x1x64x1x1xf32>) -> tensor<8x128x56x56x64x1x1xf32>
  %18 = tg.reduce add %17 [6] : tensor<8x128x56x56x64x1x1xf32> -> tensor<8x128x56x56x64x1x1xf32>
  %19 = tg.reshape %18 [8, 128, 56, 56, 64, 1] : tensor<8x128x56x56x64x1x1xf32> -> tensor<8x128x56x56x64x1xf32>
  %20 = tg.reduce add %19 [5] : tensor<8x128x56x56x64x1xf32> -> tensor<8x128x56x56x64x1xf32>
  %21 = tg.reshape %20 [8, 128, 56, 56, 64] : tensor<8x128x56x56x64x1xf32> -> tensor<8x128x56x56x64xf32>
  %22 = tg.reduce add %21 [4] : tensor<8x128x56x56x64xf32> -> tensor<8x128x56x56x1xf32>
  %23 = tg.reshape %22 [8, 128, 56, 56] : tensor<8x128x56x56x1xf32> -> tensor<8x128x56x56xf32>
  %24 = tg.reshape %mean [1, 128, 1, 1] : tensor<128xf32> -> tensor<1x128x1x1xf32>
  %25 = tg.sub %23, %24 : (tensor<8x128x56x56xf32>, tensor<1x128x1x1xf32>) -> tensor<8x128x56x56xf32>
  %26 = tg.reshape %variance [1, 128, 1, 1] : tensor<128xf32> -> tensor<1x128x1x1xf32>
  %27 = tg.const 1.000000e-05 : tensor<f32>
  %28 = tg.add %26, %27 : (tensor<1x128x1x1xf32>, tensor<f32>) -> tensor<1x128x1x1xf32>
  %29 = tg.sqrt %28 : tensor<1x128x1x1xf32>
  %30 = tg.div %25, %29 : (tensor<8x128x56x56xf32>, tensor<1x128x1x1xf32>) -> tensor<8x128x56x56xf32>
  %31 = tg.reshape %weight [1, 128, 1, 1] : tensor<128xf32> -> tensor<1x128x1x1xf32>
  %32 = tg.mul %30, %31 : (tensor<8x128x56x56xf32>, tensor<1x128x1x1xf32>) -> tensor<8x128x56x56xf32>
  %33 = tg.reshape %bias [1, 128, 1, 1] : tensor<128xf32> -> tensor<1x128x1x1xf32>
  %34 = tg.add %32, %33 : (tensor<8x128x56x56xf32>, tensor<1x128x1x1xf32>) -> tensor<8x128x56x56xf32>
  %35 = tg.const 0.000000e+00 : tensor<f32>
  %36 = tg.max %34, %35 : (tensor<8x128x56x56xf32>, tensor<f32>) -> tensor<8x128x56x56xf32>
  func.return %36 : tensor<8x128x56x56xf32>
}

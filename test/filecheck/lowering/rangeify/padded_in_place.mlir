// RUN: tg-opt %s -p tg-callify,tg-rangeify | filecheck %s

// A convolution reads windows of 3x3 cells of an image that is padded with ones. A kernel stores
// the image inside of the buffer of the PAD, at [1, 1]; another both rows of the border, which are
// whole, and a third the column before the image.

// CHECK-LABEL: tg.kernel @main_0
// CHECK:       tg.param 0 : tensor<1x1x7x5xf32
// CHECK:       %[[ROW:.*]] = tg.range 0 loop
// CHECK:       %[[COLUMN:.*]] = tg.range 1 loop
// CHECK:       tg.mul
// CHECK:       %[[I:.*]] = tg.add %[[ROW]], %[[ONE:.*]] :
// CHECK-NEXT:  %[[J:.*]] = tg.add %[[COLUMN]], %[[ONE]] :
// CHECK-NEXT:  tg.index %{{.*}}[%{{.*}}, %{{.*}}, %[[I]], %[[J]]]
// CHECK-NEXT:  tg.store

// CHECK-LABEL: tg.kernel @main_1
// CHECK:       %[[FIVE:.*]] = tg.const 5 : tensor<index>
// CHECK-NEXT:  %[[COLUMN:.*]] = tg.range 0 loop to %[[FIVE]]
// CHECK-NEXT:  tg.const 1.000000e+00
// CHECK-NEXT:  %[[FIRST:.*]] = tg.const 0 : tensor<index>
// CHECK-NEXT:  tg.index %{{.*}}[%{{.*}}, %{{.*}}, %[[FIRST]], %[[COLUMN]]]
// CHECK-NEXT:  tg.store
// CHECK-NEXT:  %[[LAST:.*]] = tg.const 6 : tensor<index>
// CHECK-NEXT:  tg.index %{{.*}}[%{{.*}}, %{{.*}}, %[[LAST]], %[[COLUMN]]]
// CHECK-NEXT:  tg.store

// CHECK-LABEL: tg.kernel @main_2
// CHECK:       %[[ROW:.*]] = tg.range 0 loop
// CHECK:       %[[I:.*]] = tg.add %[[ROW]]
// CHECK-NEXT:  tg.index %{{.*}}[%{{.*}}, %{{.*}}, %[[I]], %{{.*}}]
// CHECK-NEXT:  tg.store

// CHECK-LABEL: tg.kernel @main_3
// CHECK-NOT:   tg.where
// CHECK:       tg.reduce add

// CHECK-LABEL: func.func @main
// CHECK:       %[[BUFFER:.*]] = tg.buffer 0 : tensor<1x1x7x5xf32
// CHECK-NOT:   tg.buffer
// CHECK:       tg.call @main_0(%[[BUFFER]], %x)
// CHECK:       tg.call @main_1
// CHECK:       tg.call @main_2
// CHECK:       tg.call @main_3

func.func @main() -> tensor<1x16x5x3xf32> {
  %x = tg.param 0 : tensor<1x1x5x4xf32>
  %w = tg.param 1 : tensor<16x1x3x3xf32>
  %0 = tg.const 2.000000e+00 : tensor<f32>
  %1 = tg.mul %x, %0 : (tensor<1x1x5x4xf32>, tensor<f32>) -> tensor<1x1x5x4xf32>
  %2 = tg.pad %1 at [0, 0, 1, 1] to [1, 1, 7, 5] fill 1.000000e+00 : f32 : tensor<1x1x5x4xf32> -> tensor<1x1x7x5xf32>
  %3 = tg.reshape %2 [1, 1, 1, 1, 1, 7, 1, 5] : tensor<1x1x7x5xf32> -> tensor<1x1x1x1x1x7x1x5xf32>
  %4 = tg.expand %3 [1, 1, 1, 1, 4, 7, 4, 5] : tensor<1x1x1x1x1x7x1x5xf32> -> tensor<1x1x1x1x4x7x4x5xf32>
  %5 = tg.reshape %4 [1, 1, 28, 20] : tensor<1x1x1x1x4x7x4x5xf32> -> tensor<1x1x28x20xf32>
  %6 = tg.shrink %5 at [0, 0, 0, 0] to [1, 1, 24, 18] : tensor<1x1x28x20xf32> -> tensor<1x1x24x18xf32>
  %7 = tg.reshape %6 [1, 1, 3, 8, 3, 6] : tensor<1x1x24x18xf32> -> tensor<1x1x3x8x3x6xf32>
  %8 = tg.shrink %7 at [0, 0, 0, 0, 0, 0] to [1, 1, 3, 5, 3, 3] : tensor<1x1x3x8x3x6xf32> -> tensor<1x1x3x5x3x3xf32>
  %9 = tg.reshape %8 [1, 1, 3, 5, 1, 3, 3, 1] : tensor<1x1x3x5x3x3xf32> -> tensor<1x1x3x5x1x3x3x1xf32>
  %10 = tg.reshape %9 [1, 1, 3, 5, 3, 3] : tensor<1x1x3x5x1x3x3x1xf32> -> tensor<1x1x3x5x3x3xf32>
  %11 = tg.permute %10 [0, 1, 3, 5, 2, 4] : tensor<1x1x3x5x3x3xf32> -> tensor<1x1x5x3x3x3xf32>
  %12 = tg.reshape %11 [1, 1, 1, 1, 5, 3, 3, 3] : tensor<1x1x5x3x3x3xf32> -> tensor<1x1x1x1x5x3x3x3xf32>
  %13 = tg.permute %12 [0, 1, 3, 4, 5, 2, 6, 7] : tensor<1x1x1x1x5x3x3x3xf32> -> tensor<1x1x1x5x3x1x3x3xf32>
  %14 = tg.reshape %w [1, 1, 16, 1, 1, 1, 3, 3] : tensor<16x1x3x3xf32> -> tensor<1x1x16x1x1x1x3x3xf32>
  %15 = tg.mul %13, %14 : (tensor<1x1x1x5x3x1x3x3xf32>, tensor<1x1x16x1x1x1x3x3xf32>) -> tensor<1x1x16x5x3x1x3x3xf32>
  %16 = tg.reduce add %15 [7, 6, 5] : tensor<1x1x16x5x3x1x3x3xf32> -> tensor<1x1x16x5x3x1x1x1xf32>
  %17 = tg.reshape %16 [1, 1, 16, 5, 3] : tensor<1x1x16x5x3x1x1x1xf32> -> tensor<1x1x16x5x3xf32>
  %18 = tg.reshape %17 [1, 16, 5, 3] : tensor<1x1x16x5x3xf32> -> tensor<1x16x5x3xf32>
  func.return %18 : tensor<1x16x5x3xf32>
}

// RUN: tg-opt %s -p tg-callify,tg-rangeify | filecheck %s

// A transposed convolution of 5 cells with a stride of 2 and 3 weights: even results are a sum of
// two products, odd ones of one, and no zero between cells is multiplied.

// CHECK-LABEL: tg.kernel @main_0
// CHECK:       %[[TWO:.*]] = tg.const 2 : tensor<index>
// CHECK-NEXT:  tg.range 1 reduce to %[[TWO]]
// CHECK-NOT:   tg.mod
// CHECK:       tg.reduce add
// CHECK-LABEL: tg.kernel @main_1
// CHECK-NOT:   reduce
// CHECK:       %[[ONE:.*]] = tg.const 1 : tensor<index>
// CHECK-NEXT:  tg.index %w[%[[ONE]]]
// CHECK-LABEL: tg.kernel @main_2
// CHECK:       tg.where
// CHECK:       tg.store

func.func @main(%x: tensor<5xf32>, %w: tensor<3xf32>) -> tensor<11xf32> {
  %cells = tg.reshape %x [5, 1] : tensor<5xf32> -> tensor<5x1xf32>
  %zeros = tg.pad %cells at [0, 0] to [5, 2] fill 0.0 : f32 : tensor<5x1xf32> -> tensor<5x2xf32>
  %line = tg.reshape %zeros [10] : tensor<5x2xf32> -> tensor<10xf32>
  %dilated = tg.shrink %line at [0] to [9] : tensor<10xf32> -> tensor<9xf32>
  %padded = tg.pad %dilated at [2] to [13] fill 0.0 : f32 : tensor<9xf32> -> tensor<13xf32>
  %row = tg.reshape %padded [1, 13] : tensor<13xf32> -> tensor<1x13xf32>
  %rows = tg.expand %row [4, 13] : tensor<1x13xf32> -> tensor<4x13xf32>
  %flat = tg.reshape %rows [52] : tensor<4x13xf32> -> tensor<52xf32>
  %cut = tg.shrink %flat at [0] to [42] : tensor<52xf32> -> tensor<42xf32>
  %slid = tg.reshape %cut [3, 14] : tensor<42xf32> -> tensor<3x14xf32>
  %windows = tg.shrink %slid at [0, 0] to [3, 11] : tensor<3x14xf32> -> tensor<3x11xf32>
  %reversed = tg.flip %w [true] : tensor<3xf32>
  %column = tg.reshape %reversed [3, 1] : tensor<3xf32> -> tensor<3x1xf32>
  %products = tg.mul %windows, %column : (tensor<3x11xf32>, tensor<3x1xf32>) -> tensor<3x11xf32>
  %sums = tg.reduce add %products [0] : tensor<3x11xf32> -> tensor<1x11xf32>
  %result = tg.reshape %sums [11] : tensor<1x11xf32> -> tensor<11xf32>
  func.return %result : tensor<11xf32>
}

// RUN: tg-opt %s -p tg-callify,tg-rangeify | filecheck %s

// The gradient of the 3 weights of a transposed convolution of 5 cells with a stride of 2: one sum
// over the 5 cells, not over the 11 positions of the result, of which half meet zeros.

// CHECK-LABEL: tg.kernel @main_0
// CHECK:       %[[WEIGHTS:.*]] = tg.const 3 : tensor<index>
// CHECK-NEXT:  tg.range 0 loop to %[[WEIGHTS]]
// CHECK:       %[[CELLS:.*]] = tg.const 5 : tensor<index>
// CHECK-NEXT:  tg.range 1 reduce to %[[CELLS]]
// CHECK-NOT:   tg.mod
// CHECK-NOT:   tg.cmp
// CHECK:       tg.reduce add
// CHECK-NOT:   tg.kernel @main_1

func.func @main(%x: tensor<5xf32>, %g: tensor<11xf32>) -> tensor<3xf32> {
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
  %row_of_g = tg.reshape %g [1, 11] : tensor<11xf32> -> tensor<1x11xf32>
  %products = tg.mul %windows, %row_of_g : (tensor<3x11xf32>, tensor<1x11xf32>) -> tensor<3x11xf32>
  %sums = tg.reduce add %products [1] : tensor<3x11xf32> -> tensor<3x1xf32>
  %result = tg.reshape %sums [3] : tensor<3x1xf32> -> tensor<3xf32>
  func.return %result : tensor<3xf32>
}

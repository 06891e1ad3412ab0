// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify | filecheck %s

// A product of matrices inside another reduction has a kernel of its own, where it can have a tile.

// The sum of a product's rows.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK:         tg.kernel @main_1
// CHECK-NOT:     tg.kernel
// CHECK:         func.func @main
func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>) -> tensor<64x1xf32> {
  %0 = tg.reshape %a [64, 32, 1] : tensor<64x32xf32> -> tensor<64x32x1xf32>
  %1 = tg.reshape %b [1, 32, 48] : tensor<32x48xf32> -> tensor<1x32x48xf32>
  %2 = tg.mul %0, %1 : (tensor<64x32x1xf32>, tensor<1x32x48xf32>) -> tensor<64x32x48xf32>
  %3 = tg.reduce add %2 [1] : tensor<64x32x48xf32> -> tensor<64x1x48xf32>
  %4 = tg.reshape %3 [64, 48] : tensor<64x1x48xf32> -> tensor<64x48xf32>
  %5 = tg.reduce add %4 [1] : tensor<64x48xf32> -> tensor<64x1xf32>
  func.return %5 : tensor<64x1xf32>
}

// -----

// A sum of squares is no such product: it has no operand that is used for several results.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK-NOT:     tg.kernel
// CHECK:         func.func @main
func.func @main(%a: tensor<64x32xf32>) -> tensor<1x1xf32> {
  %0 = tg.mul %a, %a : tensor<64x32xf32>
  %1 = tg.reduce add %0 [1] : tensor<64x32xf32> -> tensor<64x1xf32>
  %2 = tg.reduce max %1 [0] : tensor<64x1xf32> -> tensor<1x1xf32>
  func.return %2 : tensor<1x1xf32>
}

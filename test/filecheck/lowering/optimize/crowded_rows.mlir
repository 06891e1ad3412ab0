// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=znver2 threads=1}' | filecheck %s

// Rows of 1024 floats begin at one place of their pages, and share a few sets of each cache: a step loads from another row,
// and the next line of a row is evicted before it is used. Blocks of steps keep to a few rows. Rows of 1040 floats
// do not share sets.

// CHECK-LABEL: tg.kernel @main_0
// CHECK:         #tg.opt<split 2, 32, reduce>, #tg.opt<order 2, 1, 0>]
// CHECK-LABEL: tg.kernel @main_1
// CHECK-NOT:     reduce>
func.func @main(%x: tensor<8x1024xf32>, %w: tensor<1024x1024xf32>, %y: tensor<8x1040xf32>, %v: tensor<1040x1040xf32>)
    -> (tensor<8x1x1024xf32>, tensor<8x1x1040xf32>) {
  %0 = tg.reshape %x [8, 1024, 1] : tensor<8x1024xf32> -> tensor<8x1024x1xf32>
  %1 = tg.mul %0, %w : (tensor<8x1024x1xf32>, tensor<1024x1024xf32>) -> tensor<8x1024x1024xf32>
  %2 = tg.reduce add %1 [1] : tensor<8x1024x1024xf32> -> tensor<8x1x1024xf32>
  %3 = tg.reshape %y [8, 1040, 1] : tensor<8x1040xf32> -> tensor<8x1040x1xf32>
  %4 = tg.mul %3, %v : (tensor<8x1040x1xf32>, tensor<1040x1040xf32>) -> tensor<8x1040x1040xf32>
  %5 = tg.reduce add %4 [1] : tensor<8x1040x1040xf32> -> tensor<8x1x1040xf32>
  func.return %2, %5 : tensor<8x1x1024xf32>, tensor<8x1x1040xf32>
}

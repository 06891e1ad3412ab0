// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode=heuristic features="avx2","fma" threads=1},tg-verify{level=kernels})' | filecheck %s

// A convolution of 3x3, and of 64 channels with 64. The loop over the channels that are summed is the outermost of the sum,
// since each of them is on a page of its own, and the rows and columns of a window are written out.

// CHECK-LABEL: tg.kernel @main_0
// CHECK:         opts [#tg.opt<order 5, 4, 3>, #tg.opt<split 4, 3, unroll>, #tg.opt<split 3, 3, unroll>
func.func @main(%x: tensor<64x58x58xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<64x56x56xf32> {
  %0 = tg.reshape %x [64, 1, 58, 1, 58] : tensor<64x58x58xf32> -> tensor<64x1x58x1x58xf32>
  %1 = tg.expand %0 [64, 4, 58, 4, 58] : tensor<64x1x58x1x58xf32> -> tensor<64x4x58x4x58xf32>
  %2 = tg.reshape %1 [64, 232, 232] : tensor<64x4x58x4x58xf32> -> tensor<64x232x232xf32>
  %3 = tg.shrink %2 at [0, 0, 0] to [64, 177, 177] : tensor<64x232x232xf32> -> tensor<64x177x177xf32>
  %4 = tg.reshape %3 [64, 3, 59, 3, 59] : tensor<64x177x177xf32> -> tensor<64x3x59x3x59xf32>
  %5 = tg.shrink %4 at [0, 0, 0, 0, 0] to [64, 3, 56, 3, 56] : tensor<64x3x59x3x59xf32> -> tensor<64x3x56x3x56xf32>
  %6 = tg.permute %5 [2, 4, 3, 1, 0] : tensor<64x3x56x3x56xf32> -> tensor<56x56x3x3x64xf32>
  %7 = tg.reshape %6 [1, 56, 56, 3, 3, 64] : tensor<56x56x3x3x64xf32> -> tensor<1x56x56x3x3x64xf32>
  %v = tg.permute %w [0, 3, 2, 1] : tensor<64x64x3x3xf32> -> tensor<64x3x3x64xf32>
  %8 = tg.reshape %v [64, 1, 1, 3, 3, 64] : tensor<64x3x3x64xf32> -> tensor<64x1x1x3x3x64xf32>
  %9 = tg.mul %7, %8 : (tensor<1x56x56x3x3x64xf32>, tensor<64x1x1x3x3x64xf32>) -> tensor<64x56x56x3x3x64xf32>
  %10 = tg.reduce add %9 [3, 4, 5] : tensor<64x56x56x3x3x64xf32> -> tensor<64x56x56x1x1x1xf32>
  %11 = tg.reshape %10 [64, 56, 56] : tensor<64x56x56x1x1x1xf32> -> tensor<64x56x56xf32>
  func.return %11 : tensor<64x56x56xf32>
}

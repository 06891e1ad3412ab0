// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=avx512f threads=2},tg-verify{level=kernels}' | filecheck %s

// Threads share the loop with which they load least that others load as well: the rows of a tall factor, the columns of a
// wide one.

// CHECK-LABEL: tg.kernel @main_0
// CHECK:         #tg.opt<split 0, 4, thread, top>
// CHECK-LABEL: tg.kernel @main_1
// CHECK:         #tg.opt<split 1, 4, thread, top>
func.func @main(%tall: tensor<4096x64xf32>, %square: tensor<64x64xf32>, %wide: tensor<64x4096xf32>) -> (tensor<4096x1x64xf32>, tensor<64x1x4096xf32>) {
  %0 = tg.reshape %tall [4096, 64, 1] : tensor<4096x64xf32> -> tensor<4096x64x1xf32>
  %1 = tg.reshape %square [1, 64, 64] : tensor<64x64xf32> -> tensor<1x64x64xf32>
  %2 = tg.mul %0, %1 : (tensor<4096x64x1xf32>, tensor<1x64x64xf32>) -> tensor<4096x64x64xf32>
  %3 = tg.reduce add %2 [1] : tensor<4096x64x64xf32> -> tensor<4096x1x64xf32>
  %4 = tg.reshape %square [64, 64, 1] : tensor<64x64xf32> -> tensor<64x64x1xf32>
  %5 = tg.reshape %wide [1, 64, 4096] : tensor<64x4096xf32> -> tensor<1x64x4096xf32>
  %6 = tg.mul %4, %5 : (tensor<64x64x1xf32>, tensor<1x64x4096xf32>) -> tensor<64x64x4096xf32>
  %7 = tg.reduce add %6 [1] : tensor<64x64x4096xf32> -> tensor<64x1x4096xf32>
  return %3, %7 : tensor<4096x1x64xf32>, tensor<64x1x4096xf32>
}

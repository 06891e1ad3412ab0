// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode=heuristic features="avx2","fma" threads=1},tg-verify{level=kernels})' | filecheck %s

// The first factor of a.T @ b has each of its 1600 rows at the same place of a page: blocks of steps keep to a few rows, and
// the second factor is packed.

// CHECK-LABEL: tg.kernel @main_0
// CHECK:         #tg.opt<split 2, 32, reduce>, #tg.opt<order 2, 1, 0>, #tg.opt<stage 2, 1, local>]
func.func @main(%a: tensor<1600x1024xf32>, %b: tensor<1600x128xf32>) -> tensor<1024x128xf32> {
  %x = tg.reshape %a [1600, 1024, 1] : tensor<1600x1024xf32> -> tensor<1600x1024x1xf32>
  %y = tg.reshape %b [1600, 1, 128] : tensor<1600x128xf32> -> tensor<1600x1x128xf32>
  %m = tg.mul %x, %y : (tensor<1600x1024x1xf32>, tensor<1600x1x128xf32>) -> tensor<1600x1024x128xf32>
  %s = tg.reduce add %m [0] : tensor<1600x1024x128xf32> -> tensor<1x1024x128xf32>
  %r = tg.reshape %s [1024, 128] : tensor<1x1024x128xf32> -> tensor<1024x128xf32>
  func.return %r : tensor<1024x128xf32>
}

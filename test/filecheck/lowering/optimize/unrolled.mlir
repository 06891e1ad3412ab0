// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=heuristic features=avx512f threads=1})' | filecheck %s

// A short reduction is written out, of a longer one its inner loop, and of one whose inner loop is long nothing.

// CHECK: tg.sink %{{.*}} opts [#tg.opt<split {{[0-9]+}}, 3, unroll>, #tg.opt<split {{[0-9]+}}, 3, unroll>, #tg.opt<split 0, 96, upcast>]
// CHECK: tg.sink %{{.*}} opts [#tg.opt<split {{[0-9]+}}, 5, unroll>, #tg.opt<split 0, 96, upcast>]
// CHECK: tg.sink %{{.*}} opts [#tg.opt<split 0, 96, upcast>]

module attributes {tg.target = #tg.target<"cpu", features = []>} {
func.func @main(%x: tensor<3x4x96xf32>, %y: tensor<5x6x96xf32>, %z: tensor<12x11x96xf32>) -> (tensor<1x1x96xf32>, tensor<1x1x96xf32>, tensor<1x1x96xf32>) {
  %a = tg.shrink %x at [0, 0, 0] to [3, 3, 96] : tensor<3x4x96xf32> -> tensor<3x3x96xf32>
  %b = tg.shrink %y at [0, 0, 0] to [5, 5, 96] : tensor<5x6x96xf32> -> tensor<5x5x96xf32>
  %c = tg.shrink %z at [0, 0, 0] to [11, 10, 96] : tensor<12x11x96xf32> -> tensor<11x10x96xf32>
  %0 = tg.reduce add %a [0, 1] : tensor<3x3x96xf32> -> tensor<1x1x96xf32>
  %1 = tg.reduce add %b [0, 1] : tensor<5x5x96xf32> -> tensor<1x1x96xf32>
  %2 = tg.reduce add %c [0, 1] : tensor<11x10x96xf32> -> tensor<1x1x96xf32>
  func.return %0, %1, %2 : tensor<1x1x96xf32>, tensor<1x1x96xf32>, tensor<1x1x96xf32>
}
}

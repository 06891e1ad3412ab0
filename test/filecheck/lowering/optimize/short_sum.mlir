// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=sse2 threads=1}' | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=none}' | filecheck %s --check-prefix=NONE

// By default few steps need no loop, as in the tutorial; with the tutorial's NOOPT they have one.

// CHECK: tg.range 0 group_reduce to
// CHECK: opts [#tg.opt<split 0, 4, group_reduce>]
// NONE: tg.range 0 reduce to
func.func @dot(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<1xi32> {
  %m = tg.mul %a, %b : tensor<4xi32>
  %r = tg.reduce add %m [0] : tensor<4xi32> -> tensor<1xi32>
  func.return %r : tensor<1xi32>
}

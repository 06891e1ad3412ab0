// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode=none})' | filecheck %s
// RUN: not tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode=fast})' 2>&1 | filecheck %s --check-prefix=BAD

// mode=none keeps every range, and records on the kernel that no OptOp was applied.

// CHECK: tg.range 0 loop
// CHECK: tg.sink %{{.*}} opts [] : !tg.void
// BAD: mode 'fast' is not one of the modes there are: none

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.neg %a : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

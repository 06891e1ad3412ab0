// RUN: tg-opt %s -p tg-callify -p tg-rangeify,tg-verify{level=kernels} | filecheck %s
// RUN: not tg-opt %s --pass-pipeline='builtin.module(cse)' --pass-pipeline='builtin.module(dce)' 2>&1 | filecheck %s --check-prefix=TWICE

// The passes of a second -p follow those of the first; --pass-pipeline is a whole pipeline.

// CHECK: tg.kernel @main_0
// TWICE: tg-opt: error: --pass-pipeline may be given once
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.neg %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

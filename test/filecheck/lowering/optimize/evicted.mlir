// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode=heuristic})' | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode=heuristic},tg-expand,tg-select,tg-linearize)' | filecheck %s --check-prefix=LINEAR

// A result that no later CALL accesses is stored around the caches, if what the later ones access evicts it. That of the last
// CALL is not.

// CHECK-LABEL:  tg.kernel @main_0 attributes {tg.evicted = array<i64: 0>}
// CHECK-LABEL:  tg.kernel @main_1 {
// LINEAR-LABEL: tg.program @main_0 attributes {tg.evicted = array<i64: 0>}
// LINEAR-LABEL: tg.program @main_1 {
module attributes {tg.target = #tg.target<"cpu", features = [], threads = 1, llc = 4096, l2 = 8192>} {
  func.func @main(%a: tensor<4096xf32>, %b: tensor<32768xf32>) -> (tensor<4096xf32>, tensor<32768xf32>) {
    %0 = tg.add %a, %a : tensor<4096xf32>
    %1 = tg.mul %b, %b : tensor<32768xf32>
    return %0, %1 : tensor<4096xf32>, tensor<32768xf32>
  }
}

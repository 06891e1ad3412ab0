// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[0, 1, 0, 0]> : tensor<4xi32>

// BLOCKEND ends a loop, which becomes END, or a condition, which becomes the gate of the STOREs in it.

tg.kernel @k {
  // CHECK-LABEL: tg.kernel @k {
  // CHECK: %c = tg.cmplt %i_1, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // CHECK: %s = tg.store %2, %i_1 gate %c : tensor<i32, #tg.place<global>>, tensor<i32>, tensor<i1>
  // CHECK-NEXT: %3 = tg.end %s over %i : !tg.void
  // CHECK-NEXT: %4 = tg.sink %3 : !tg.void
  %0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
  %zero = tg.const 0 : tensor<i32>
  %four = tg.const 4 : tensor<i32>
  %two = tg.const 2 : tensor<i32>
  %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
  %start = tg_legacy.blockstart %i : tensor<i32>
  %c = tg.cmplt %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %if = tg_legacy.if %c : tensor<i1>
  %then = tg_legacy.blockstart %if : !tg.void
  %s = tg_legacy.store %0 at %i value %i : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  %body = tg_legacy.block %s after %start, %then : !tg.void
  %endif = tg_legacy.blockend %if after %body : !tg.void
  %end = tg_legacy.blockend %i after %endif : tensor<i32>
  %r = tg.sink %end : !tg.void
}

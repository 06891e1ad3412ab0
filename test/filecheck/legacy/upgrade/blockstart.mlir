// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[0, 10, 20, 1, 11, 21]> : tensor<6xi32>

// BLOCKSTART: where the block of a loop or of a condition begins. The order of the ops says it: nothing is left.

tg.kernel @k {
  // CHECK-LABEL: tg.kernel @k {
  // CHECK-NEXT: %0 = tg.param 0 : tensor<6xi32, #tg.place<global>>
  // CHECK-NEXT: %ten = tg.const 10 : tensor<i32>
  // CHECK-NEXT: %1 = tg.const 2 : tensor<index>
  // CHECK-NEXT: %i = tg.range 0 loop to %1 : tensor<index>
  // CHECK-NEXT: %i_1 = tg.cast %i to i32 : tensor<index> -> tensor<i32>
  // CHECK-NEXT: %2 = tg.const 3 : tensor<index>
  // CHECK-NEXT: %j = tg.range 1 loop to %2 : tensor<index>
  // CHECK-NEXT: %j_1 = tg.cast %j to i32 : tensor<index> -> tensor<i32>
  // CHECK-NEXT: %tens = tg.mul %j_1, %ten : tensor<i32>
  // CHECK-NEXT: %v = tg.add %tens, %i_1 : tensor<i32>
  // CHECK-NEXT: %3 = tg.mul %i, %2 : tensor<index>
  // CHECK-NEXT: %4 = tg.add %3, %j : tensor<index>
  // CHECK-NEXT: %5 = tg.index %0[%4]
  // CHECK-NEXT: %s = tg.store %5, %v : tensor<i32, #tg.place<global>>, tensor<i32>
  // CHECK-NEXT: %6 = tg.end %s over %j : !tg.void
  // CHECK-NEXT: %7 = tg.end %6 over %i : !tg.void
  // CHECK-NEXT: %8 = tg.sink %7 : !tg.void
  %0 = tg_legacy.define_global 0 : tensor<6xi32, #tg.place<global>>
  %zero = tg.const 0 : tensor<i32>
  %two = tg.const 2 : tensor<i32>
  %three = tg.const 3 : tensor<i32>
  %ten = tg.const 10 : tensor<i32>
  %i = tg_legacy.range 0 from %zero to %two : tensor<i32>
  %j = tg_legacy.range 1 from %zero to %three : tensor<i32>
  %starti = tg_legacy.blockstart %i : tensor<i32>
  %outer = tg_legacy.block after %starti
  %startj = tg_legacy.blockstart %j : tensor<i32>
  %row = tg.mul %i, %three : tensor<i32>
  %p = tg.add %row, %j : tensor<i32>
  %tens = tg.mul %j, %ten : tensor<i32>
  %v = tg.add %tens, %i : tensor<i32>
  %s = tg_legacy.store %0 at %p value %v : tensor<6xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
  %inner = tg_legacy.block %s after %outer, %startj : !tg.void
  %endj = tg_legacy.blockend %j after %inner : tensor<i32>
  %endi = tg_legacy.blockend %i after %endj : tensor<i32>
  %r = tg.sink %endi : !tg.void
}

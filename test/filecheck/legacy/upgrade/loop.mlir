// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[0, 0, 20, 30, 40, 0]> : tensor<6xi32>

// LOOP: a RANGE, to which a start that is not 0 is added.

tg.program @k {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @k {
    // CHECK-NEXT: %out = tg.param 0 : tensor<6xi32, #tg.place<global>>
    // CHECK-NEXT: %c10 = tg.const 10 : tensor<i32>
    // CHECK-NEXT: %0 = tg.const 2 : tensor<index>
    // CHECK-NEXT: %1 = tg.const 3 : tensor<index>
    // CHECK-NEXT: %2 = tg.range 0 loop to %1 : tensor<index>
    // CHECK-NEXT: %i = tg.add %2, %0 : tensor<index>
    // CHECK-NEXT: %i_1 = tg.cast %i to i32 : tensor<index> -> tensor<i32>
    // CHECK-NEXT: %x = tg.mul %i_1, %c10 : tensor<i32>
    // CHECK-NEXT: %3 = tg.index %out[%i]
    // CHECK-NEXT: %s = tg.store %3, %x : tensor<i32, #tg.place<global>>, tensor<i32>
    // CHECK-NEXT: %4 = tg.end %s over %2 : !tg.void
    // CHECK-NEXT: %5 = tg.sink %4 : !tg.void
    %out = tg_legacy.define_global 0 : tensor<6xi32, #tg.place<global>>
    %c2 = tg.const 2 : tensor<i32>
    %c5 = tg.const 5 : tensor<i32>
    %c10 = tg.const 10 : tensor<i32>
    %i = tg_legacy.loop from %c2 to %c5 : tensor<i32>
    %x = tg_legacy.alu "BinaryOps.MUL" %i, %c10 : tensor<i32>
    %s = tg_legacy.store %out at %i value %x : tensor<6xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %e = tg_legacy.endloop %i : tensor<i32>
  }
}

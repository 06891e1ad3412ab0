// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[6, 12, 18]> : tensor<3xi32>

// ENDLOOP ends a LOOP: an END of what the loop writes, nothing of one that only reduces.

tg.program @scale {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @scale {
    // CHECK: %2 = tg.reduce add %x [] over %i : tensor<i32> -> tensor<i32>
    // CHECK-NEXT: %j = tg.range 1 loop to %0 : tensor<index>
    // CHECK: %s = tg.store %4, %z : tensor<i32, #tg.place<global>>, tensor<i32>
    // CHECK-NEXT: %5 = tg.end %s over %j : !tg.void
    // CHECK-NEXT: %6 = tg.sink %5 : !tg.void
    %out = tg_legacy.define_global 0 : tensor<3xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<3xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c3 = tg.const 3 : tensor<i32>
    %acc = tg_legacy.define_acc 0 from %c0 : tensor<i32>
    %i = tg_legacy.loop from %c0 to %c3 : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<3xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %sum = tg_legacy.alu "BinaryOps.ADD" %x, %acc : tensor<i32>
    %n = tg_legacy.phi %acc, %sum over %i : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %e = tg_legacy.endloop %i : tensor<i32>
    %j = tg_legacy.loop from %c0 to %c3 : tensor<i32>
    %y = tg_legacy.load %a at %j : tensor<3xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %z = tg_legacy.alu "BinaryOps.MUL" %y, %n : tensor<i32>
    %s = tg_legacy.store %out at %j value %z : tensor<3xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %f = tg_legacy.endloop %j : tensor<i32>
  }
}

// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[1, 1, 2, 2]> : tensor<4xi32>
// RESULT-NEXT: dense<[1, 2]> : tensor<2xi32>

// ENDRANGE: the END of what its loop writes. A loop around another one waits for it.

tg.program @repeat {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @repeat {
    // CHECK: %i = tg.range 0 loop to %0 : tensor<index>
    // CHECK: %s = tg.store %2, %x : tensor<i32, #tg.place<global>>, tensor<i32>
    // CHECK-NEXT: %j = tg.range 1 loop to %0 : tensor<index>
    // CHECK: %t = tg.store %5, %x : tensor<i32, #tg.place<global>>, tensor<i32>
    // CHECK-NEXT: %6 = tg.end %t over %j : !tg.void
    // CHECK-NEXT: %7 = tg.group %s, %6
    // CHECK-NEXT: %8 = tg.end %7 over %i : !tg.void
    // CHECK-NEXT: %9 = tg.sink %8 : !tg.void
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<2xi32, #tg.place<global>>
    %copy = tg_legacy.define_global 2 : tensor<2xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c2 = tg.const 2 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c2 : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<2xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %s = tg_legacy.store %copy at %i value %x : tensor<2xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %j = tg_legacy.range 1 from %c0 to %c2 : tensor<i32>
    %r = tg.mul %i, %c2 : tensor<i32>
    %p = tg.add %r, %j : tensor<i32>
    %t = tg_legacy.store %out at %p value %x : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %ej = tg_legacy.endrange %j : tensor<i32>
    %ei = tg_legacy.endrange %i : tensor<i32>
  }
}

// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 5,-6,7,-8 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 5,-6,7,-8 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[5, 0, 7, 0, 10, -12, 14, -16]> : tensor<8xi32>

// ENDIF: from here on a STORE is not gated any more.

tg.program @positive {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @positive {
    // CHECK: %c = tg.cmplt %c0, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK: %s = tg.store %2, %x gate %c : tensor<i32, #tg.place<global>>, tensor<i32>, tensor<i1>
    // CHECK: %t = tg.store %4, %y : tensor<i32, #tg.place<global>>, tensor<i32>
    // CHECK-NEXT: %5 = tg.group %s, %t
    %out = tg_legacy.define_global 0 : tensor<8xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %c = tg.cmplt %c0, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %if = tg_legacy.if %c : tensor<i1>
    %s = tg_legacy.store %out at %i value %x : tensor<8xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %endif = tg_legacy.endif %if : !tg.void
    %y = tg.add %x, %x : tensor<i32>
    %p = tg.add %i, %c4 : tensor<i32>
    %t = tg_legacy.store %out at %p value %y : tensor<8xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}

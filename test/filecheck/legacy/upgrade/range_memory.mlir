// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[1, 3, 6, 10]> : tensor<4xi32>

// A loop that carries memory from one iteration to the next: its loads are AFTER the RANGE, and it keeps its order.

tg.program @scan {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @scan {
    // CHECK: %z = tg.store %1, %c0 : tensor<i32, #tg.place<local>>, tensor<i32>
    // CHECK: %i = tg.range 0 reduce to %2 : tensor<index>
    // CHECK-NEXT: %3 = tg.after %temp, %z
    // CHECK: %5 = tg.index %a[%i]
    // CHECK-NEXT: %x = tg.load %5 : tensor<i32, #tg.place<global>> -> tensor<i32>
    // CHECK-NEXT: %6 = tg.index %4[%i]
    // CHECK: %s = tg.store %9, %sum : tensor<i32, #tg.place<local>>, tensor<i32>
    // CHECK: %12 = tg.end %11 over %i : !tg.void
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %temp = tg_legacy.define_local "temp" : tensor<5xi32, #tg.place<local>>
    %c0 = tg.const 0 : tensor<i32>
    %c1 = tg.const 1 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %z = tg_legacy.store %temp at %c0 value %c0 : tensor<5xi32, #tg.place<local>> at tensor<i32> value tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %y = tg_legacy.load %temp at %i : tensor<5xi32, #tg.place<local>> at tensor<i32> -> tensor<i32>
    %sum = tg.add %x, %y : tensor<i32>
    %p = tg.add %i, %c1 : tensor<i32>
    %s = tg_legacy.store %temp at %p value %sum : tensor<5xi32, #tg.place<local>> at tensor<i32> value tensor<i32>
    %t = tg_legacy.store %out at %i value %sum : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}

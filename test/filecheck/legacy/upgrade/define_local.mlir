// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[4, 3, 2, 1]> : tensor<4xi32>

// DEFINE_LOCAL: a BUFFER in `local` space, which two loops share.

tg.program @reverse {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @reverse {
    // CHECK: %temp = tg.buffer 0 : tensor<4xi32, #tg.place<local>>
    // CHECK: %s = tg.store %4, %x : tensor<i32, #tg.place<local>>, tensor<i32>
    // CHECK-NEXT: %5 = tg.end %s over %i : !tg.void
    // CHECK-NEXT: %6 = tg.barrier %5 : !tg.void
    // CHECK-NEXT: %7 = tg.after %temp, %6
    // CHECK: %y = tg.load %8 : tensor<i32, #tg.place<local>> -> tensor<i32>
    // CHECK: %t = tg.store %9, %y : tensor<i32, #tg.place<global>>, tensor<i32>
    // CHECK-NEXT: %10 = tg.end %t over %j : !tg.void
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %temp = tg_legacy.define_local "temp0" : tensor<4xi32, #tg.place<local>>
    %c0 = tg.const 0 : tensor<i32>
    %c3 = tg.const 3 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %p = tg.sub %c3, %i : tensor<i32>
    %s = tg_legacy.store %temp at %p value %x : tensor<4xi32, #tg.place<local>> at tensor<i32> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
    %b = tg.barrier %s : !tg.void
    %j = tg_legacy.range 1 from %c0 to %c4 : tensor<i32>
    %y = tg_legacy.load %temp at %j after %b : tensor<4xi32, #tg.place<local>> at tensor<i32> after !tg.void -> tensor<i32>
    %t = tg_legacy.store %out at %j value %y : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %f = tg_legacy.endrange %j : tensor<i32>
  }
}

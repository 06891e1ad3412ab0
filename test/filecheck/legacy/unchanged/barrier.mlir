// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s --check-prefix=UPGRADED
// RUN: tg-run %s --input 7,-2,0,5 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 7,-2,0,5 --target cpu | filecheck %s --check-prefix=RESULT
// UPGRADED: %4 = tg.barrier %3 : !tg.void
// RESULT: dense<[7, -2, 0, 5]> : tensor<4xi32>

// out = a, by way of local memory.
tg.program @barrier {
  %0 = tg.linear {
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %temp = tg_legacy.define_local "temp0" : tensor<4xi32, #tg.place<local>>
    %zero = tg.const 0 : tensor<i32>
    %four = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %s = tg_legacy.store %temp at %i value %x : tensor<4xi32, #tg.place<local>> at tensor<i32> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
    // CHECK: %b = tg.barrier %s : !tg.void
    %b = tg.barrier %s : !tg.void
    %j = tg_legacy.range 1 from %zero to %four : tensor<i32>
    %y = tg_legacy.load %temp at %j after %b : tensor<4xi32, #tg.place<local>> at tensor<i32> after !tg.void -> tensor<i32>
    %t = tg_legacy.store %out at %j value %y : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<i32>
    %f = tg_legacy.endrange %j : tensor<i32>
  }
}

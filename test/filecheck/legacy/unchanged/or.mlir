// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s --check-prefix=UPGRADED
// RUN: tg-run %s --input 7,-2,0,5 --input 3,2,1,5 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 7,-2,0,5 --input 3,2,1,5 --target cpu | filecheck %s --check-prefix=RESULT
// UPGRADED: %r = tg.or %x, %y : tensor<i32>
// RESULT: dense<[7, -2, 1, 5]> : tensor<4xi32>

// out = a | b
tg.program @or {
  %0 = tg.linear {
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %b = tg_legacy.define_global 2 : tensor<4xi32, #tg.place<global>>
    %zero = tg.const 0 : tensor<i32>
    %four = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
    %ai = tg_legacy.index %a, %i : (tensor<4xi32, #tg.place<global>>, tensor<i32>) -> tensor<i32, #tg.place<global>>
    %x = tg_legacy.load %ai : tensor<i32, #tg.place<global>> -> tensor<i32>
    %bi = tg_legacy.index %b, %i : (tensor<4xi32, #tg.place<global>>, tensor<i32>) -> tensor<i32, #tg.place<global>>
    %y = tg_legacy.load %bi : tensor<i32, #tg.place<global>> -> tensor<i32>
    // CHECK: %r = tg.or %x, %y : tensor<i32>
    %r = tg.or %x, %y : tensor<i32>
    %outi = tg_legacy.index %out, %i : (tensor<4xi32, #tg.place<global>>, tensor<i32>) -> tensor<i32, #tg.place<global>>
    %s = tg_legacy.store %outi value %r : tensor<i32, #tg.place<global>> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}

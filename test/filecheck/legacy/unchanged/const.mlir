// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s --check-prefix=UPGRADED
// RUN: tg-run %s --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --target cpu | filecheck %s --check-prefix=RESULT
// UPGRADED: %three = tg.const 3 : tensor<i32>
// RESULT: dense<[3, 3, 3, 3]> : tensor<4xi32>

// out = 3. A CONST with a device is an op of the older vocabulary.
tg.program @const {
  %0 = tg.linear {
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    // CHECK: %zero = tg.const 0 : tensor<i32>
    %zero = tg.const 0 : tensor<i32>
    // CHECK: %four = tg.const 4 : tensor<i32>
    %four = tg.const 4 : tensor<i32>
    // CHECK: %three = tg.const 3 : tensor<i32>
    %three = tg.const 3 : tensor<i32>
    %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
    %outi = tg_legacy.index %out, %i : (tensor<4xi32, #tg.place<global>>, tensor<i32>) -> tensor<i32, #tg.place<global>>
    %s = tg_legacy.store %outi value %three : tensor<i32, #tg.place<global>> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}

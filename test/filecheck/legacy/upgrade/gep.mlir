// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[4, 3, 1, 3]> : tensor<4xi32>

// GEP: one lane is INDEX by a constant, several by constants.

tg.program @lanes {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @lanes {
    // CHECK: %v = tg.load %1 : tensor<4xi32, #tg.place<global>> -> tensor<4xi32>
    // CHECK: %d = tg.index %v[%2] : (tensor<4xi32>, tensor<index>) -> tensor<i32>
    // CHECK-NEXT: %3 = tg.vconst [2, 0, 2] : tensor<3xindex>
    // CHECK-NEXT: %cac = tg.index %v[%3] : (tensor<4xi32>, tensor<3xindex>) -> tensor<3xi32>
    // CHECK-NEXT: %one = tg.stack %d : tensor<i32> -> tensor<1xi32>
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %v = tg_legacy.load %a at %c0 : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<4xi32>
    %d = tg_legacy.gep %v [3] : tensor<4xi32> -> tensor<i32>
    %cac = tg_legacy.gep %v [2, 0, 2] : tensor<4xi32> -> tensor<3xi32>
    %one = tg_legacy.vectorize %d : tensor<i32> -> tensor<1xi32>
    %r = tg_legacy.cat %one, %cac : (tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>
    %s = tg_legacy.store %out at %c0 value %r : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<4xi32>
  }
}

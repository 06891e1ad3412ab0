// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 10,20,30,40 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 10,20,30,40 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[40, 0, 20, 10]> : tensor<4xi32>

// INDEX at a vector of positions, each with its own condition or all with one.

tg.program @gather {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @gather {
    // CHECK: %4 = tg.vconst [3, 7, 1, 0] : tensor<4xindex>
    // CHECK-NEXT: %5 = tg.index %a[%4]
    // CHECK: %x = tg.load %5 alt %8 gate %is
    // CHECK: %s = tg.store %10, %x : tensor<4xi32, #tg.place<global>>, tensor<4xi32>
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %p = tg_legacy.vconst [3, 7, 1, 0] : tensor<4xi32>
    %n = tg.const 4 : tensor<i32>
    %is = tg.cmplt %p, %n : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
    %ap = tg_legacy.index %a, %p valid %is : (tensor<4xi32, #tg.place<global>>, tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32, #tg.place<global>>
    %x = tg_legacy.load %ap : tensor<4xi32, #tg.place<global>> -> tensor<4xi32>
    %op = tg_legacy.index %out, %c0 : (tensor<4xi32, #tg.place<global>>, tensor<i32>) -> tensor<i32, #tg.place<global>>
    %ov = tg_legacy.cast %op : tensor<i32, #tg.place<global>> -> tensor<4xi32, #tg.place<global>>
    %s = tg_legacy.store %ov value %x : tensor<4xi32, #tg.place<global>> value tensor<4xi32>
  }
}

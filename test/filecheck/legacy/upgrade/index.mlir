// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[0, 1, 2, 3, 4, -1, 1, 2]> : tensor<8xi32>

// INDEX: the location of an element; where `valid` is false a LOAD gives 0 or its alternative, and a STORE writes nothing.

tg.program @shift {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @shift {
    // CHECK: %is = tg.cmplt %c0, %i_1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK: %3 = tg.index %a[%2]
    // CHECK-NEXT: %4 = tg.const 0 : tensor<i32>
    // CHECK-NEXT: %x = tg.load %3 alt %4 gate %is
    // CHECK-NEXT: %5 = tg.index %out[%i]
    // CHECK-NEXT: %s = tg.store %5, %x : tensor<i32, #tg.place<global>>, tensor<i32>
    %out = tg_legacy.define_global 0 : tensor<8xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c1 = tg.const 1 : tensor<i32>
    %c3 = tg.const 3 : tensor<i32>
    %c5 = tg.const 5 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c5 : tensor<i32>
    %p = tg.sub %i, %c1 : tensor<i32>
    %is = tg.cmplt %c0, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %ap = tg_legacy.index %a, %p valid %is : (tensor<4xi32, #tg.place<global>>, tensor<i32>, tensor<i1>) -> tensor<i32, #tg.place<global>>
    %x = tg_legacy.load %ap : tensor<i32, #tg.place<global>> -> tensor<i32>
    %op = tg_legacy.index %out, %i : (tensor<8xi32, #tg.place<global>>, tensor<i32>) -> tensor<i32, #tg.place<global>>
    %s = tg_legacy.store %op value %x : tensor<i32, #tg.place<global>> value tensor<i32>
    %e = tg_legacy.endrange %i : tensor<i32>
    // CHECK: %js = tg.cmplt %c0, %j_1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK: %9 = tg.index %a[%8]
    // CHECK-NEXT: %y = tg.load %9 alt %none gate %js
    // CHECK: %11 = tg.index %7[%10]
    // CHECK-NEXT: %t = tg.store %11, %y gate %few : tensor<i32, #tg.place<global>>, tensor<i32>, tensor<i1>
    %j = tg_legacy.range 1 from %c0 to %c5 : tensor<i32>
    %q = tg.sub %j, %c1 : tensor<i32>
    %js = tg.cmplt %c0, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %aq = tg_legacy.index %a, %q valid %js : (tensor<4xi32, #tg.place<global>>, tensor<i32>, tensor<i1>) -> tensor<i32, #tg.place<global>>
    %none = tg.const -1 : tensor<i32>
    %y = tg_legacy.load %aq alt %none : tensor<i32, #tg.place<global>> alt tensor<i32> -> tensor<i32>
    %r = tg.add %j, %c5 : tensor<i32>
    %few = tg.cmplt %j, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %oq = tg_legacy.index %out, %r valid %few : (tensor<8xi32, #tg.place<global>>, tensor<i32>, tensor<i1>) -> tensor<i32, #tg.place<global>>
    %t = tg_legacy.store %oq value %y : tensor<i32, #tg.place<global>> value tensor<i32>
    %f = tg_legacy.endrange %j : tensor<i32>
  }
}

// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --entry swap_main --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT1
// RUN: tg-run %s --entry swap_main --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT1
// RESULT1: dense<[2, 1, 4, 3]> : tensor<4xi32>
// RUN: tg-run %s --entry unrolled_main --input 1,2 --target interpreter | filecheck %s --check-prefix=RESULT2
// RUN: tg-run %s --entry unrolled_main --input 1,2 --target cpu | filecheck %s --check-prefix=RESULT2
// RESULT2: dense<[1, 10, 2, 20]> : tensor<4xi32>

// VECTORIZE: a STACK of scalars.

tg.program @swap {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @swap {
    // CHECK: %x = tg.load %{{[0-9]+}} : tensor<i32, #tg.place<global>> -> tensor<i32>
    // CHECK: %y = tg.load %{{[0-9]+}} : tensor<i32, #tg.place<global>> -> tensor<i32>
    // CHECK-NEXT: %v = tg.stack %y, %x : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
    // CHECK: %s = tg.store %{{[0-9]+}}, %v : tensor<2xi32, #tg.place<global>>, tensor<2xi32>
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %c1 = tg.const 1 : tensor<i32>
    %c2 = tg.const 2 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c2 : tensor<i32>
    %p = tg.mul %i, %c2 : tensor<i32>
    %q = tg.add %p, %c1 : tensor<i32>
    %x = tg_legacy.load %a at %p : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %y = tg_legacy.load %a at %q : tensor<4xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %v = tg_legacy.vectorize %y, %x : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
    %s = tg_legacy.store %out at %p value %v : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<2xi32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}

// In an unrolled loop the lanes are the last axis.
tg.program @unrolled {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @unrolled {
    // CHECK: %{{[0-9]+}} = tg.stack %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
    // CHECK-NEXT: %v = tg.permute %{{[0-9]+}} [1, 0] : tensor<2x2xi32>
    // CHECK: %s = tg.store %{{[0-9]+}}, %{{[0-9]+}} : tensor<4xi32, #tg.place<global>>, tensor<4xi32>
    %out = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<2xi32, #tg.place<global>>
    %c2 = tg.const 2 : tensor<i32>
    %ten = tg.const 10 : tensor<i32>
    %lanes = tg_legacy.vconst [0, 1] : tensor<2xi32>
    %i = tg_legacy.unroll %lanes [[0, 2]] : tensor<2xi32> -> tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<2xi32, #tg.place<global>> at tensor<i32> -> tensor<i32>
    %y = tg.mul %x, %ten : tensor<i32>
    %v = tg_legacy.vectorize %x, %y : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
    %p = tg.mul %i, %c2 : tensor<i32>
    %s = tg_legacy.store %out at %p value %v : tensor<4xi32, #tg.place<global>> at tensor<i32> value tensor<2xi32>
  }
}

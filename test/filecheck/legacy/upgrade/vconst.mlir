// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4,5,6,7,8 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4,5,6,7,8 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[2.5, -3.0, 10.0, -8.0]> : tensor<4xf32>

// VCONST: a VCONST of positions; a STACK of other constants.

tg.program @k {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @k {
    // CHECK: %0 = tg.vconst [0, 2, 3, 7] : tensor<4xindex>
    // CHECK-NEXT: %1 = tg.index %a[%0]
    // CHECK-NEXT: %x = tg.load %1 : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>
    // CHECK-NEXT: %2 = tg.const 2.500000e+00 : tensor<f32>
    // CHECK-NEXT: %3 = tg.const -1.000000e+00 : tensor<f32>
    // CHECK: %f = tg.stack %2, %3, %4, %5 : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
    // CHECK-NEXT: %y = tg.mul %x, %f : tensor<4xf32>
    %out = tg_legacy.define_global 0 : tensor<4xf32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<8xf32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %p = tg_legacy.vconst [0, 2, 3, 7] : tensor<4xi32>
    %x = tg_legacy.load %a at %p : tensor<8xf32, #tg.place<global>> at tensor<4xi32> -> tensor<4xf32>
    %f = tg_legacy.vconst [2.5, -1.0, 2.5, -1.0] : tensor<4xf32>
    %y = tg.mul %x, %f : tensor<4xf32>
    %s = tg_legacy.store %out at %c0 value %y : tensor<4xf32, #tg.place<global>> at tensor<i32> value tensor<4xf32>
  }
}

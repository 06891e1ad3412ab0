// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4,5,6,7,8 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4,5,6,7,8 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0]> : tensor<8xf32>

// CAST of a location: a vector at neighbouring positions, which INDEX says itself.

tg.program @double {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @double {
    // CHECK: %3 = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
    // CHECK: %5 = tg.index %a[%4]
    // CHECK-NEXT: %x = tg.load %5 : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>
    // CHECK-NEXT: %y = tg.add %x, %x : tensor<4xf32>
    // CHECK: %8 = tg.index %out[%7]
    // CHECK-NEXT: %s = tg.store %8, %y : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
    %out = tg_legacy.define_global 0 : tensor<8xf32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<8xf32, #tg.place<global>>
    %zero = tg.const 0 : tensor<i32>
    %two = tg.const 2 : tensor<i32>
    %four = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %zero to %two : tensor<i32>
    %p = tg.mul %i, %four : tensor<i32>
    %ap = tg_legacy.index %a, %p : (tensor<8xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
    %av = tg_legacy.cast %ap : tensor<f32, #tg.place<global>> -> tensor<4xf32, #tg.place<global>>
    %x = tg_legacy.load %av : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>
    %y = tg.add %x, %x : tensor<4xf32>
    %op = tg_legacy.index %out, %p : (tensor<8xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
    %ov = tg_legacy.cast %op : tensor<f32, #tg.place<global>> -> tensor<4xf32, #tg.place<global>>
    %s = tg_legacy.store %ov value %y : tensor<4xf32, #tg.place<global>> value tensor<4xf32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}

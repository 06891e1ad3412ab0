// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --input 5,6,7,8 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --input 5,6,7,8 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[20.0, 23.0, 44.0, 51.0]> : tensor<4xf32>

// WMMA of one thread, which holds whole matrices.

tg.program @multiply {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @multiply {
    // CHECK: %8 = tg.reshape %a [2, 2] : tensor<4xf32> -> tensor<2x2xf32>
    // CHECK-NEXT: %9 = tg.reshape %b [2, 2] : tensor<4xf32> -> tensor<2x2xf32>
    // CHECK-NEXT: %10 = tg.reshape %c [2, 2] : tensor<4xf32> -> tensor<2x2xf32>
    // CHECK-NEXT: %11 = tg.wmma %8, %9, %10 config <2x2x2> : tensor<2x2xf32>
    // CHECK-NEXT: %d = tg.reshape %11 [4] : tensor<2x2xf32> -> tensor<4xf32>
    // CHECK: %s = tg.store %13, %d : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
    %out = tg_legacy.define_global 0 : tensor<4xf32, #tg.place<global>>
    %x = tg_legacy.define_global 1 : tensor<4xf32, #tg.place<global>>
    %y = tg_legacy.define_global 2 : tensor<4xf32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<i32>
    %a = tg_legacy.load %x at %c0 : tensor<4xf32, #tg.place<global>> at tensor<i32> -> tensor<4xf32>
    %b = tg_legacy.load %y at %c0 : tensor<4xf32, #tg.place<global>> at tensor<i32> -> tensor<4xf32>
    %c = tg_legacy.vconst [1.0, 1.0, 1.0, 1.0] : tensor<4xf32>
    %d = tg_legacy.wmma %a, %b, %c config <"WMMA_2_2_2_float_float", [2, 2, 2], f32, f32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 2], [1, 2]]], []> : tensor<4xf32>
    %s = tg_legacy.store %out at %c0 value %d : tensor<4xf32, #tg.place<global>> at tensor<i32> value tensor<4xf32>
  }
}

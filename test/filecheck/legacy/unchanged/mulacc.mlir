// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s --check-prefix=UPGRADED
// RUN: tg-run %s --input 4,0.5,1,9 --input 2,3,0.5,-1 --input 4,0.5,1,9 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 4,0.5,1,9 --input 2,3,0.5,-1 --input 4,0.5,1,9 --target cpu | filecheck %s --check-prefix=RESULT
// UPGRADED: %r = tg.mulacc %x, %y, %z : tensor<f32>
// RESULT: dense<[12.0, 2.0, 1.5, 0.0]> : tensor<4xf32>

// out = a * b + c
tg.program @mulacc {
  %0 = tg.linear {
    %out = tg_legacy.define_global 0 : tensor<4xf32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xf32, #tg.place<global>>
    %b = tg_legacy.define_global 2 : tensor<4xf32, #tg.place<global>>
    %c = tg_legacy.define_global 3 : tensor<4xf32, #tg.place<global>>
    %zero = tg.const 0 : tensor<i32>
    %four = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %zero to %four : tensor<i32>
    %ai = tg_legacy.index %a, %i : (tensor<4xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
    %x = tg_legacy.load %ai : tensor<f32, #tg.place<global>> -> tensor<f32>
    %bi = tg_legacy.index %b, %i : (tensor<4xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
    %y = tg_legacy.load %bi : tensor<f32, #tg.place<global>> -> tensor<f32>
    %ci = tg_legacy.index %c, %i : (tensor<4xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
    %z = tg_legacy.load %ci : tensor<f32, #tg.place<global>> -> tensor<f32>
    // CHECK: %r = tg.mulacc %x, %y, %z : tensor<f32>
    %r = tg.mulacc %x, %y, %z : tensor<f32>
    %outi = tg_legacy.index %out, %i : (tensor<4xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
    %s = tg_legacy.store %outi value %r : tensor<f32, #tg.place<global>> value tensor<f32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}

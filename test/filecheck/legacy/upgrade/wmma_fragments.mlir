// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s

// WMMA of 32 threads of a device whose fragments are known: the layouts say which elements each thread holds.

tg.program @multiply {
  %0 = tg.linear {
    // CHECK-LABEL: tg.kernel @multiply {
    // CHECK: %lane = tg.range 0 local to %threads : tensor<index>
    // CHECK: %d = tg.wmma %a, %b, %c config <16x8x16, threads = 32, a = ["k1", "k2", "m0", "m1", "m2", "k0", "m3", "k3"], b = ["k1", "k2", "n0", "n1", "n2", "k0", "k3"], c = ["n1", "n2", "m0", "m1", "m2", "n0", "m3"]>
    // CHECK: %s = tg.store %12, %d : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
    %out = tg_legacy.define_global 0 : tensor<128xf32, #tg.place<global>>
    %x = tg_legacy.define_global 1 : tensor<256xf16, #tg.place<global>>
    %y = tg_legacy.define_global 2 : tensor<128xf16, #tg.place<global>>
    %threads = tg.const 32 : tensor<index>
    %c4 = tg.const 4 : tensor<index>
    %c8 = tg.const 8 : tensor<index>
    %lane = tg.special "lidx0" to %threads : tensor<index>
    %p = tg.mul %lane, %c8 : tensor<index>
    %q = tg.mul %lane, %c4 : tensor<index>
    %a = tg_legacy.load %x at %p : tensor<256xf16, #tg.place<global>> at tensor<index> -> tensor<8xf16>
    %b = tg_legacy.load %y at %q : tensor<128xf16, #tg.place<global>> at tensor<index> -> tensor<4xf16>
    %c = tg_legacy.vconst [0.0, 0.0, 0.0, 0.0] : tensor<4xf32>
    %d = tg_legacy.wmma %a, %b, %c config <"WMMA_8_16_16_half_float", [8, 16, 16], f16, f32, "CUDA", 32, [[[0, 8]], [[0, 4]], [[0, 4]]], [3]> : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
    %s = tg_legacy.store %out at %q value %d : tensor<128xf32, #tg.place<global>> at tensor<index> value tensor<4xf32>
  }
}

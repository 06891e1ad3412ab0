// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// CHECK: "test.op"() {a = #tg_legacy.wmma<"WMMA_8_16_16_half_float", [8, 16, 16], f16, f32, "CUDA", 32, [[[0, 8]], [[0, 2], [1, 2]], [[0, 4]]], [3, 4]>, b = #tg_legacy.wmma<"whole", [2, 2, 2], i8, i32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 4]]], []>} : () -> ()
"test.op"() {a = #tg_legacy.wmma<"WMMA_8_16_16_half_float", [8, 16, 16], f16, f32, "CUDA", 32, [[[0, 8]], [[0, 2], [1, 2]], [[0, 4]]], [3, 4]>, b = #tg_legacy.wmma<"whole", [2, 2, 2], i8, i32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 4]]], []>} : () -> ()

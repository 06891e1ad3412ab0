// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// CHECK: %0 = tg_legacy.empty : tensor<4x4xf32, #tg.place<"CPU", global>>
// GENERIC: %0 = "tg_legacy.empty"() : () -> tensor<4x4xf32, #tg.place<"CPU", global>>
%0 = tg_legacy.empty : tensor<4x4xf32, #tg.place<"CPU", global>>
// CHECK: %1 = tg_legacy.empty : tensor<i32, #tg.place<"CUDA:1", global>>
// GENERIC: %1 = "tg_legacy.empty"() : () -> tensor<i32, #tg.place<"CUDA:1", global>>
%1 = tg_legacy.empty : tensor<i32, #tg.place<"CUDA:1", global>>

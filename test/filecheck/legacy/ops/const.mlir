// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

%d = tg_legacy.device "CPU"
%v = tg_legacy.view %d [#tg_legacy.view<[4, 4], strides = [0, 0]>] : !tg.void
// CHECK: %0 = tg_legacy.const 1.500000e+00 : tensor<4x4xf32, #tg.place<"CPU">> on %v
// GENERIC: %0 = "tg_legacy.const"(%v) <{value = 1.500000e+00 : f32}> : (!tg.void) -> tensor<4x4xf32, #tg.place<"CPU">>
%0 = tg_legacy.const 1.500000e+00 : tensor<4x4xf32, #tg.place<"CPU">> on %v
%s = tg_legacy.view %d [#tg_legacy.view<[]>] : !tg.void
// CHECK: %1 = tg_legacy.const 3 : tensor<i32, #tg.place<"CPU">> on %s
// GENERIC: %1 = "tg_legacy.const"(%s) <{value = 3 : i32}> : (!tg.void) -> tensor<i32, #tg.place<"CPU">>
%1 = tg_legacy.const 3 : tensor<i32, #tg.place<"CPU">> on %s
// CHECK: %2 = tg_legacy.const true : tensor<i1, #tg.place<"CPU">> on %s
// GENERIC: %2 = "tg_legacy.const"(%s) <{value = true}> : (!tg.void) -> tensor<i1, #tg.place<"CPU">>
%2 = tg_legacy.const true : tensor<i1, #tg.place<"CPU">> on %s
%p = tg_legacy.view %d [#tg_legacy.view<[4], strides = [0], mask = [[1, 3]]>] : !tg.void
// CHECK: %3 = tg_legacy.const -inf : tensor<4xf32, #tg.place<"CPU">> on %p
// GENERIC: %3 = "tg_legacy.const"(%p) <{value = 0xff800000 : f32}> : (!tg.void) -> tensor<4xf32, #tg.place<"CPU">>
%3 = tg_legacy.const -inf : tensor<4xf32, #tg.place<"CPU">> on %p

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

%d = tg_legacy.device "CPU"
%0 = tg_legacy.unique 0
%1 = tg_legacy.unique 1
// CHECK: %a = tg_legacy.buffer %d, %0 size 16 : tensor<16xf32, #tg.place<"CPU", global>>
// GENERIC: %a = "tg_legacy.buffer"(%d, %0) <{size = #tg.number<16>}> : (!tg.void, !tg.void) -> tensor<16xf32, #tg.place<"CPU", global>>
%a = tg_legacy.buffer %d, %0 size 16 : tensor<16xf32, #tg.place<"CPU", global>>
// CHECK: %b = tg_legacy.buffer %d, %1 size 16 : tensor<16xi8, #tg.place<"CPU", global>>
// GENERIC: %b = "tg_legacy.buffer"(%d, %1) <{size = #tg.number<16>}> : (!tg.void, !tg.void) -> tensor<16xi8, #tg.place<"CPU", global>>
%b = tg_legacy.buffer %d, %1 size 16 : tensor<16xi8, #tg.place<"CPU", global>>

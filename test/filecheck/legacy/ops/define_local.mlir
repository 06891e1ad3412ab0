// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// CHECK: %0 = tg_legacy.define_local "temp0" : tensor<16xf32, #tg.place<local>>
// GENERIC: %0 = "tg_legacy.define_local"() <{symbol = "temp0"}> : () -> tensor<16xf32, #tg.place<local>>
%0 = tg_legacy.define_local "temp0" : tensor<16xf32, #tg.place<local>>

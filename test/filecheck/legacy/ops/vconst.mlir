// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// CHECK: %0 = tg_legacy.vconst [1.000000e+00, -2.500000e+00] : tensor<2xf32>
// GENERIC: %0 = "tg_legacy.vconst"() <{values = [1.000000e+00 : f32, -2.500000e+00 : f32]}> : () -> tensor<2xf32>
%0 = tg_legacy.vconst [1.000000e+00, -2.500000e+00] : tensor<2xf32>
// CHECK: %1 = tg_legacy.vconst [0, 1, 2, -3] : tensor<4xindex>
// GENERIC: %1 = "tg_legacy.vconst"() <{values = [0 : index, 1 : index, 2 : index, -3 : index]}> : () -> tensor<4xindex>
%1 = tg_legacy.vconst [0, 1, 2, -3] : tensor<4xindex>
// CHECK: %2 = tg_legacy.vconst [true, false] : tensor<2xi1>
// GENERIC: %2 = "tg_legacy.vconst"() <{values = [true, false]}> : () -> tensor<2xi1>
%2 = tg_legacy.vconst [true, false] : tensor<2xi1>
// CHECK: %3 = tg_legacy.vconst [7] : tensor<1xui8>
// GENERIC: %3 = "tg_legacy.vconst"() <{values = [7 : ui8]}> : () -> tensor<1xui8>
%3 = tg_legacy.vconst [7] : tensor<1xui8>
// CHECK: %4 = tg_legacy.vconst [inf, -inf, nan] : tensor<3xf32>
// GENERIC: %4 = "tg_legacy.vconst"() <{values = [0x7f800000 : f32, 0xff800000 : f32, 0x7fc00000 : f32]}> : () -> tensor<3xf32>
%4 = tg_legacy.vconst [inf, -inf, nan] : tensor<3xf32>

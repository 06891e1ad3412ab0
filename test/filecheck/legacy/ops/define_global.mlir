// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// CHECK: %0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
// GENERIC: %0 = "tg_legacy.define_global"() <{slot = #tg.number<0>}> : () -> tensor<4xi32, #tg.place<global>>
%0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
// CHECK: %1 = tg_legacy.define_global 1 "data1" : tensor<4xi32, #tg.place<global>>
// GENERIC: %1 = "tg_legacy.define_global"() <{slot = #tg.number<1>, symbol = "data1"}> : () -> tensor<4xi32, #tg.place<global>>
%1 = tg_legacy.define_global 1 "data1" : tensor<4xi32, #tg.place<global>>
// CHECK: %2 = tg_legacy.define_global 2 "data2" mutable : tensor<?xi32, #tg.place<global>>
// GENERIC: %2 = "tg_legacy.define_global"() <{slot = #tg.number<2>, symbol = "data2", mutable}> : () -> tensor<?xi32, #tg.place<global>>
%2 = tg_legacy.define_global 2 "data2" mutable : tensor<?xi32, #tg.place<global>>
// CHECK: %3 = tg_legacy.define_global 3 mutable : tensor<?xf16, #tg.place<"CPU", global>>
// GENERIC: %3 = "tg_legacy.define_global"() <{slot = #tg.number<3>, mutable}> : () -> tensor<?xf16, #tg.place<"CPU", global>>
%3 = tg_legacy.define_global 3 mutable : tensor<?xf16, #tg.place<"CPU", global>>

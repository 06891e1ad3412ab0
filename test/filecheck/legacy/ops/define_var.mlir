// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// CHECK: %n = tg_legacy.define_var "n" 1 to 64 : tensor<index>
// GENERIC: %n = "tg_legacy.define_var"() <{symbol = "n", min = #tg.number<1>, max = #tg.number<64>}> : () -> tensor<index>
%n = tg_legacy.define_var "n" 1 to 64 : tensor<index>
// CHECK: %m = tg_legacy.define_var "start_pos" -4 to 4 : tensor<i32>
// GENERIC: %m = "tg_legacy.define_var"() <{symbol = "start_pos", min = #tg.number<-4>, max = #tg.number<4>}> : () -> tensor<i32>
%m = tg_legacy.define_var "start_pos" -4 to 4 : tensor<i32>
// CHECK: %l = tg_legacy.define_var "k" 7 to 7 : tensor<ui8>
// GENERIC: %l = "tg_legacy.define_var"() <{symbol = "k", min = #tg.number<7>, max = #tg.number<7>}> : () -> tensor<ui8>
%l = tg_legacy.define_var "k" 7 to 7 : tensor<ui8>

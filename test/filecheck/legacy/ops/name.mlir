// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// CHECK: %a = tg_legacy.name "r_4"
// GENERIC: %a = "tg_legacy.name"() <{text = "r_4"}> : () -> !tg.void
%a = tg_legacy.name "r_4"
%n = tg_legacy.define_var "n" 1 to 64 : tensor<index>
// CHECK: %b = tg_legacy.name "n" of %n : tensor<index>
// GENERIC: %b = "tg_legacy.name"(%n) <{text = "n"}> : (tensor<index>) -> !tg.void
%b = tg_legacy.name "n" of %n : tensor<index>

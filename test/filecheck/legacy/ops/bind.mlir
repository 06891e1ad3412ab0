// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

%n = tg_legacy.define_var "n" 1 to 64 : tensor<index>
%c = tg.const 64 : tensor<index>
// CHECK: %b = tg_legacy.bind %n, %c : tensor<index>
// GENERIC: %b = "tg_legacy.bind"(%n, %c) : (tensor<index>, tensor<index>) -> tensor<index>
%b = tg_legacy.bind %n, %c : tensor<index>

// RUN: tg-opt %s --split-input-file --verify-diagnostics

%c = tg.const 3 : tensor<index>
// expected-error@below {{a BIND gives a DEFINE_VAR its value, not tg.const}}
%b = tg_legacy.bind %c, %c : tensor<index>

// -----

%n = tg_legacy.define_var "n" 1 to 64 : tensor<index>
%c = tg.const 3 : tensor<i32>
// expected-error@below {{the target is tensor<index>, the value tensor<i32>}}
%b = tg_legacy.bind %n, %c : (tensor<index>, tensor<i32>) -> tensor<index>

// -----

%n = tg_legacy.define_var "n" 1 to 64 : tensor<index>
%c = tg.const 3 : tensor<index>
%d = tg.neg %c : tensor<index>
// expected-error@below {{the value of a BIND is a known CONST, not tg.neg}}
%b = tg_legacy.bind %n, %d : tensor<index>

// -----

%n = tg_legacy.define_var "n" 1 to 64 : tensor<index>
%c = tg.const 65 : tensor<index>
// expected-error@below {{"n" is from 1 to 64, got 65}}
%b = tg_legacy.bind %n, %c : tensor<index>

// -----

%n = tg_legacy.define_var "n" 1 to 64 : tensor<index>
%c = tg.const invalid : tensor<index>
// expected-error@below {{the value of a BIND is a known CONST, not tg.const}}
%b = tg_legacy.bind %n, %c : tensor<index>

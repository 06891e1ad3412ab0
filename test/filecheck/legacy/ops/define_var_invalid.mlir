// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{a variable is an integer scalar, not tensor<f32>}}
%n = tg_legacy.define_var "n" 1 to 64 : tensor<f32>

// -----

// expected-error@below {{a variable is an integer scalar, not tensor<4xi32>}}
%n = tg_legacy.define_var "n" 1 to 64 : tensor<4xi32>

// -----

// expected-error@below {{2 to 1 is no interval of index}}
%n = tg_legacy.define_var "n" 2 to 1 : tensor<index>

// -----

// expected-error@below {{0 to 256 is no interval of ui8}}
%n = tg_legacy.define_var "n" 0 to 256 : tensor<ui8>

// -----

// expected-error@below {{-1 to 5 is no interval of ui8}}
%n = tg_legacy.define_var "n" -1 to 5 : tensor<ui8>

// -----

// expected-error@below {{"" is not an identifier}}
%n = tg_legacy.define_var "" 1 to 64 : tensor<index>

// -----

// expected-error@below {{the result type is written as tensor<index, #tg.place<global>>, but the op gives tensor<index>}}
%n = tg_legacy.define_var "n" 1 to 64 : tensor<index, #tg.place<global>>

// -----

// expected-error@below {{expected a tensor, got !tg.void}}
%n = tg_legacy.define_var "n" 1 to 64 : !tg.void

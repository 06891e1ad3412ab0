// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{a VCONST has at least one value}}
%0 = tg_legacy.vconst [] : tensor<0xf32>

// -----

// expected-error@below {{1.5 is not representable in i32}}
%0 = tg_legacy.vconst [1.5] : tensor<1xi32>

// -----

// expected-error@below {{300 is not representable in ui8}}
%0 = tg_legacy.vconst [300] : tensor<1xui8>

// -----

// expected-error@below {{the result type is written as tensor<3xi32>, but the op gives tensor<2xi32>}}
%0 = tg_legacy.vconst [1, 2] : tensor<3xi32>

// -----

// expected-error@below {{the values are of several dtypes: i32, f32}}
%0 = "tg_legacy.vconst"() <{values = [1 : i32, 2.0 : f32]}> : () -> tensor<2xf32>

// -----

// expected-error@below {{#tg.invalid<f32> is not a number}}
%0 = tg_legacy.vconst [invalid] : tensor<1xf32>

// -----

// expected-error@below {{"one" is not a number}}
%0 = "tg_legacy.vconst"() <{values = ["one"]}> : () -> tensor<1xf32>

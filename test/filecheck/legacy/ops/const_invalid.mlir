// RUN: tg-opt %s --split-input-file --verify-diagnostics

%v = tg_legacy.view [#tg_legacy.view<[4], strides = [0]>] : !tg.void
// expected-error@below {{the source of a CONST is a VIEW of a DEVICE, not tg_legacy.view}}
%0 = tg_legacy.const 1.5 : tensor<4xf32> on %v

// -----

%v = tg_legacy.device "CPU"
// expected-error@below {{the source of a CONST is a VIEW of a DEVICE, not tg_legacy.device}}
%0 = tg_legacy.const 1.5 : tensor<f32> on %v

// -----

%d = tg_legacy.device "CPU"
%v = tg_legacy.view %d [#tg_legacy.view<[4], strides = [0]>] : !tg.void
// expected-error@below {{1.5 is not representable in i32}}
%0 = tg_legacy.const 1.5 : tensor<4xi32, #tg.place<"CPU">> on %v

// -----

%d = tg_legacy.device "CPU"
%v = tg_legacy.view %d [#tg_legacy.view<[4], strides = [0]>] : !tg.void
// expected-error@below {{the result type is written as tensor<4xf64, #tg.place<"CPU">>, but the op gives tensor<4xf32, #tg.place<"CPU">>}}
%0 = "tg_legacy.const"(%v) <{value = 1.0 : f32}> : (!tg.void) -> tensor<4xf64, #tg.place<"CPU">>

// -----

%d = tg_legacy.device "CPU"
%v = tg_legacy.view %d [#tg_legacy.view<[4], strides = [0]>] : !tg.void
// expected-error@below {{the result type is written as tensor<4xf32>, but the op gives tensor<4xf32, #tg.place<"CPU">>}}
%0 = tg_legacy.const 1.0 : tensor<4xf32> on %v

// -----

%d = tg_legacy.device "CPU"
%v = tg_legacy.view %d [#tg_legacy.view<[4], strides = [0]>] : !tg.void
// expected-error@below {{#tg.invalid<f32> is not a number}}
%0 = tg_legacy.const invalid : tensor<4xf32, #tg.place<"CPU">> on %v

// -----

%d = tg_legacy.device "CPU"
%v = tg_legacy.view %d [#tg_legacy.view<[4], strides = [0]>] : !tg.void
// expected-error@below {{"one" is not a number}}
%0 = "tg_legacy.const"(%v) <{value = "one"}> : (!tg.void) -> tensor<4xf32, #tg.place<"CPU">>

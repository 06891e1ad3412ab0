// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{slot -1 is negative}}
%0 = tg_legacy.define_global -1 : tensor<4xi32, #tg.place<global>>

// -----

// expected-error@below {{the result is global memory of one axis on one device, not tensor<4xi32>}}
%0 = tg_legacy.define_global 0 : tensor<4xi32>

// -----

// expected-error@below {{the result is global memory of one axis on one device, not tensor<4xi32, #tg.place<local>>}}
%0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<local>>

// -----

// expected-error@below {{the result is global memory of one axis on one device, not tensor<2x2xi32, #tg.place<global>>}}
%0 = tg_legacy.define_global 0 : tensor<2x2xi32, #tg.place<global>>

// -----

// expected-error@below {{the result is global memory of one axis on one device, not tensor<4xf32, #tg.place<["A", "B"], global, axis = 0>>}}
%0 = tg_legacy.define_global 0 : tensor<4xf32, #tg.place<["A", "B"], global, axis = 0>>

// -----

// expected-error@below {{!tg.void is not a dtype: i1, index, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f8E4M3FN, f8E5M2, f16, bf16, f32, f64}}
%0 = tg_legacy.define_global 0 : tensor<4x!tg.void, #tg.place<global>>

// -----

// expected-error@below {{expected a tensor, got !tg.void}}
%0 = tg_legacy.define_global 0 : !tg.void

// -----

// expected-error@below {{i3 is not a dtype: i1, index, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f8E4M3FN, f8E5M2, f16, bf16, f32, f64}}
%0 = tg_legacy.define_global 0 : tensor<4xi3, #tg.place<global>>

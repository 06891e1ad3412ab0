// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{the result is local memory of one axis on one device, not tensor<16xf32, #tg.place<global>>}}
%0 = tg_legacy.define_local "temp0" : tensor<16xf32, #tg.place<global>>

// -----

// expected-error@below {{the result is local memory of one axis on one device, not tensor<4x4xf32, #tg.place<local>>}}
%0 = tg_legacy.define_local "temp0" : tensor<4x4xf32, #tg.place<local>>

// -----

// expected-error@below {{the size of local memory is known, not tensor<?xf32, #tg.place<local>>}}
%0 = tg_legacy.define_local "temp0" : tensor<?xf32, #tg.place<local>>

// -----

// expected-error@below {{property 'symbol' expected in operation 'tg_legacy.define_local'}}
%0 = "tg_legacy.define_local"() : () -> tensor<16xf32, #tg.place<local>>

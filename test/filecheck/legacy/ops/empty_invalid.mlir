// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{an EMPTY is global memory on a device, of a known size, not tensor<4xf32>}}
%0 = tg_legacy.empty : tensor<4xf32>

// -----

// expected-error@below {{an EMPTY is global memory on a device, of a known size, not tensor<4xf32, #tg.place<"CPU">>}}
%0 = tg_legacy.empty : tensor<4xf32, #tg.place<"CPU">>

// -----

// expected-error@below {{an EMPTY is global memory on a device, of a known size, not tensor<4xf32, #tg.place<global>>}}
%0 = tg_legacy.empty : tensor<4xf32, #tg.place<global>>

// -----

// expected-error@below {{an EMPTY is global memory on a device, of a known size, not tensor<4xf32, #tg.place<"CPU", local>>}}
%0 = tg_legacy.empty : tensor<4xf32, #tg.place<"CPU", local>>

// -----

// expected-error@below {{an EMPTY is global memory on a device, of a known size, not tensor<?xf32, #tg.place<"CPU", global>>}}
%0 = tg_legacy.empty : tensor<?xf32, #tg.place<"CPU", global>>

// -----

// expected-error@below {{expected a tensor, got !tg.void}}
%0 = tg_legacy.empty : !tg.void

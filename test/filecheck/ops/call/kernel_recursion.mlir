// RUN: tg-opt %s --split-input-file --verify-diagnostics

// A kernel may call others, and none calls itself, directly or not.

tg.kernel @k {
  %0 = tg.param 0 : tensor<4xf32, #tg.place<"CPU", global>>
  // expected-error @+1 {{@k calls itself}}
  %1 = tg.call @k(%0) : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
  %2 = tg.sink %1 : !tg.void
}

// -----

tg.kernel @a {
  %0 = tg.param 0 : tensor<4xf32, #tg.place<"CPU", global>>
  // expected-error @+1 {{@a calls itself}}
  %1 = tg.call @b(%0) : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
  %2 = tg.sink %1 : !tg.void
}
tg.kernel @b {
  %0 = tg.param 0 : tensor<4xf32, #tg.place<"CPU", global>>
  %1 = tg.call @a(%0) : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
  %2 = tg.sink %1 : !tg.void
}

// RUN: tg-opt %s --verify-each=false -p tg-linearize --split-input-file --verify-diagnostics

tg.kernel @race {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %one = tg.const 1.0 : tensor<f32>
  %two = tg.const 2.0 : tensor<f32>
  %c0 = tg.const 0 : tensor<index>
  %d0 = tg.const 0 : tensor<index>
  %l = tg.index %o[%c0] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %m = tg.index %o[%d0] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %l, %one : tensor<f32, #tg.place<global>>, tensor<f32>
  // expected-error@below {{a race: this STORE and another write one cell, and neither is AFTER the other}}
  %t = tg.store %m, %two : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s, %t : !tg.void, !tg.void
}

// -----

// Where %w is read depends on what is there after %s, but what is read is from before.
tg.kernel @both_orders {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %p = tg.param 1 : tensor<4xindex, #tg.place<global>>
  %zero = tg.const 0 : tensor<index>
  %l = tg.index %p[%zero] : (tensor<4xindex, #tg.place<global>>, tensor<index>) -> tensor<index, #tg.place<global>>
  // expected-error@below {{the program needs both orders at once}}
  %s = tg.store %l, %zero : tensor<index, #tg.place<global>>, tensor<index>
  %l1 = tg.after %l, %s : (tensor<index, #tg.place<global>>, !tg.void) -> tensor<index, #tg.place<global>>
  %i = tg.load %l1 : tensor<index, #tg.place<global>> -> tensor<index>
  %m = tg.index %p[%i] : (tensor<4xindex, #tg.place<global>>, tensor<index>) -> tensor<index, #tg.place<global>>
  %w = tg.load %m : tensor<index, #tg.place<global>> -> tensor<index>
  %v = tg.cast %w to f32 : tensor<index> -> tensor<f32>
  %t = tg.store %o, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %t : !tg.void
}

// -----

tg.kernel @reduce {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 reduce to %c4 : tensor<index>
  %v = tg.cast %i to f32 : tensor<index> -> tensor<f32>
  // expected-error@below {{a REDUCE over ranges has no loops before tg-expand}}
  %r = tg.reduce add %v [] over %i : tensor<f32> -> tensor<f32>
  %s = tg.store %o, %r : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
}

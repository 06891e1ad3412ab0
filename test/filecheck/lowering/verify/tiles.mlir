// RUN: tg-opt %s -p 'tg-verify{level=tiles}' --verify-diagnostics --split-input-file

tg.kernel @vector {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %v = tg.load %o : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>
  %r = tg.reduce add %v [0] : tensor<4xf32> -> tensor<1xf32>
  %e = tg.expand %r [4] : tensor<1xf32> -> tensor<4xf32>
  %s = tg.store %o, %e : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
  tg.sink %s : !tg.void
}

// -----

tg.kernel @upcast {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %n = tg.const 4 : tensor<index>
  // expected-error@below {{upcast range 3 is shape at this level}}
  %i = tg.range 3 upcast to %n : tensor<index>
  %l = tg.after %o, %i : (tensor<f32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %e = tg.end %l over %i : tensor<f32, #tg.place<global>>
  tg.sink %e : !tg.void
}

// -----

tg.kernel @reduce {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %n = tg.const 4 : tensor<index>
  %i = tg.range 3 reduce to %n : tensor<index>
  // expected-error@below {{a REDUCE goes over axes at this level, not over ranges}}
  %r = tg.reduce add %i [] over %i : tensor<index> -> tensor<index>
  %f = tg.cast %r to f32 : tensor<index> -> tensor<f32>
  %s = tg.store %o, %f : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
}

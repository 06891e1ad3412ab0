// RUN: tg-opt %s -p 'tg-verify{level=kernels}' --verify-diagnostics --split-input-file

tg.kernel @vector {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  // expected-error@below {{a value has shape () at this level, not tensor<4xf32>}}
  %v = tg.load %o : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>
  %s = tg.store %o, %v : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
  tg.sink %s : !tg.void
}

// -----

tg.kernel @partial_index {
  %o = tg.param 0 : tensor<4x4xf32, #tg.place<global>>
  %c = tg.const 0 : tensor<index>
  // expected-error@below {{1 indices into a buffer of 2 axes}}
  %l = tg.index %o[%c] : (tensor<4x4xf32, #tg.place<global>>, tensor<index>) -> tensor<4xf32, #tg.place<global>>
  tg.sink %l : tensor<4xf32, #tg.place<global>>
}

// -----

tg.kernel @invalid {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  // expected-error@below {{nothing is invalid at this level}}
  %c = tg.const invalid : tensor<f32>
  %s = tg.store %o, %c : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
}

// -----

tg.kernel @movement {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  // expected-error@below {{tg.flip is not part of tg.kernel at level kernels}}
  %f = tg.flip %o [true] : tensor<4xf32, #tg.place<global>>
  tg.sink %f : tensor<4xf32, #tg.place<global>>
}

// -----

func.func @main(%r: tensor<4xf32, #tg.place<"CPU", global>>) {
  %c = tg.const 1.0 : tensor<f32>
  %l = tg.reshape %r [4] : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", global>>
  // expected-error@below {{tg.reduce is not part of func.func at level kernels}}
  %s = tg.reduce add %l [0] : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<1xf32, #tg.place<"CPU">>
  %0 = "tg.sink"() : () -> !tg.void
  func.return
}

// -----

// A kernel gets a pointer: a view that is an argument of a CALL shows cells in order.

tg.kernel @copy {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %s = tg.sink %o : tensor<4xf32, #tg.place<global>>
}

func.func @flipped(%r: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{tg.flip is not part of func.func at level kernels}}
  %f = tg.flip %r [true] : tensor<4xf32, #tg.place<"CPU", global>>
  %c = tg.call @copy(%f) : (tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  %k = tg.sink %c : !tg.void
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{a SINK is a root: nothing may use it}}
  %0 = tg.sink
  %1 = tg.group %0
  func.return
}

// -----

func.func @f(%v: tensor<4xf32>) {
  // expected-error@below {{a SINK collects effects and memory, not tensor<4xf32>}}
  %0 = tg.sink %v : tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{"fast" should be of base attribute tg.opt}}
  %0 = tg.sink opts ["fast"]
  func.return
}

// -----

tg.kernel @never_closed {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %one = tg.const 1.0 : tensor<f32>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 7 loop to %c4 : tensor<index>
  %l = tg.index %o[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  // expected-error@below {{no END closes range 7 around this tg.store}}
  %s = tg.store %l, %one : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
}

// -----

// Another END closes the loop, but not around the second STORE.
tg.kernel @one_of_two {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %one = tg.const 1.0 : tensor<f32>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %l = tg.index %o[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %m = tg.index %p[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %l, %one : tensor<f32, #tg.place<global>>, tensor<f32>
  // expected-error@below {{no END closes range 0 around this tg.store}}
  %t = tg.store %m, %one : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e, %t : !tg.void, !tg.void
}

// -----

tg.kernel @reopened {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %one = tg.const 1.0 : tensor<f32>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %j = tg.range 1 loop to %c4 : tensor<index>
  %l = tg.index %o[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %l, %one : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  // expected-error@below {{range 0 is used after its END}}
  %l1 = tg.after %l, %e : (tensor<f32, #tg.place<global>>, !tg.void) -> tensor<f32, #tg.place<global>>
  %v = tg.load %l1 : tensor<f32, #tg.place<global>> -> tensor<f32>
  %m = tg.index %p[%j] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %t = tg.store %m, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %f = tg.end %t over %j : !tg.void
  tg.sink %f : !tg.void
}

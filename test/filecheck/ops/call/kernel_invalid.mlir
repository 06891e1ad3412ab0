// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{a kernel ends in its tg.sink}}
tg.kernel @k {
  %c = tg.const 1.0 : tensor<f32>
}

// -----

// expected-error@below {{a kernel has one tg.sink, its last op}}
tg.kernel @k {
  %0 = tg.sink
  %1 = tg.sink
}

// -----

// expected-error@below {{two ranges have axis id 0}}
tg.kernel @k {
  %n = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %j = tg.range 0 reduce to %n : tensor<index>
  %s = tg.sink
}

// -----

tg.kernel @k {
  %s = tg.sink
}
// expected-error@below {{Redefinition of symbol "k"}}
tg.kernel @k {
  %s = tg.sink
}

// -----

// expected-error@below {{Region 'body' at position 0 expected a single block, but got 0 blocks}}
tg.kernel @k {
}

// -----

%c = tg.const 1.0 : tensor<f32>
// expected-error@below {{Operation using value defined out of its IsolatedFromAbove parent}}
tg.kernel @k {
  %0 = tg.exp2 %c : tensor<f32>
  %s = tg.sink
}

// -----

tg.kernel @k {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %v = tg.const 5.0 : tensor<f32>
  // expected-error@below {{the SINK does not need this tg.store}}
  %s = tg.store %o, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %a = tg.after %o, %s : (tensor<f32, #tg.place<global>>, !tg.void) -> tensor<f32, #tg.place<global>>
  tg.sink
}

// -----

tg.kernel @k {
  %o = tg.param 0 : tensor<i32, #tg.place<global>>
  %n = tg.const 4 : tensor<index>
  %v = tg.const 5 : tensor<i32>
  %i = tg.range 0 loop to %n : tensor<index>
  %l = tg.after %o, %i : (tensor<i32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
  // expected-error@below {{the SINK does not need this tg.atomicadd}}
  %s = tg.atomicadd %l, %v : tensor<i32, #tg.place<global>>, tensor<i32>
  %e = tg.end %s over %i : !tg.void
  tg.sink
}

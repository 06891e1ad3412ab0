// RUN: tg-opt %s -p tg-expand --split-input-file --verify-diagnostics
// What ranges are expanded to is straight code.

tg.kernel @upcast {
  %o = tg.param 0 : tensor<1048576xf32, #tg.place<global>>
  %c = tg.const 1048576 : tensor<index>
  // expected-error@below {{UPCAST and UNROLL ranges make a value of 1048576 elements in code, and 2048 are the most}}
  %r = tg.range 0 upcast to %c : tensor<index>
  %v = tg.const 1.0 : tensor<f32>
  %p = tg.index %o[%r] : (tensor<1048576xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %p, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %d = tg.end %s over %r : !tg.void
  %e = tg.sink %d opts [] : !tg.void
}

// -----

// The cost of all values counts: 1024 powers are as many operations as 24,576 additions.
tg.kernel @several {
  %o = tg.param 0 : tensor<32x32xf32, #tg.place<global>>
  %c = tg.const 32 : tensor<index>
  %r = tg.range 0 upcast to %c : tensor<index>
  %q = tg.range 1 upcast to %c : tensor<index>
  %p = tg.index %o[%r, %q] : (tensor<32x32xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %p : tensor<f32, #tg.place<global>> -> tensor<f32>
  %0 = tg.pow %v, %v : tensor<f32>
  %1 = tg.pow %0, %0 : tensor<f32>
  // expected-error@below {{UPCAST and UNROLL ranges make code that costs more than 65536 operations on one element}}
  %2 = tg.pow %1, %1 : tensor<f32>
  %s = tg.store %p, %2 : tensor<f32, #tg.place<global>>, tensor<f32>
  %d = tg.end %s over %r, %q : !tg.void
  %e = tg.sink %d opts [] : !tg.void
}

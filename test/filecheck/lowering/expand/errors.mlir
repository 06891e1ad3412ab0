// RUN: tg-opt %s -p tg-expand --split-input-file --verify-diagnostics

tg.kernel @dynamic_upcast {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %n = tg.param 1 "n" min 1 max 8 : tensor<index>
  %one = tg.const 1.0 : tensor<f32>
  // expected-error@below {{upcast range 0 becomes an axis of shape: its bound has to be a positive constant}}
  %i = tg.range 0 upcast to %n : tensor<index>
  %ol = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %ol, %one : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// -----

tg.kernel @one_cell {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 upcast to %c4 : tensor<index>
  %v = tg.cast %i to f32 : tensor<index> -> tensor<f32>
  // expected-error@below {{a race: this STORE writes one cell in every iteration of upcast range 0}}
  %s = tg.store %o, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// -----

// The reads all come before the writes, which no loop does.
tg.kernel @reverse_in_place {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %c8 = tg.const 8 : tensor<index>
  %c7 = tg.const 7 : tensor<index>
  %i = tg.range 0 loop to %c8 : tensor<index>
  %j = tg.sub %c7, %i : tensor<index>
  %a = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %b = tg.index %o[%j] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  // expected-error@below {{this LOAD reads the buffer before every STORE to it, but is in a loop with a STORE to a cell that it may read in another iteration}}
  %v = tg.load %b : tensor<f32, #tg.place<global>> -> tensor<f32>
  %s = tg.store %a, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// -----

// In place, cell by cell, is fine, and so is reading another part of the buffer.
tg.kernel @in_place {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %i4 = tg.add %i, %c4 : tensor<index>
  %a = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %b = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %c = tg.index %o[%i4] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %b : tensor<f32, #tg.place<global>> -> tensor<f32>
  %w = tg.load %c : tensor<f32, #tg.place<global>> -> tensor<f32>
  %x = tg.add %v, %w : tensor<f32>
  %s = tg.store %a, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// -----

tg.kernel @out_of_order {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %x = tg.param 1 : tensor<3x8xf32, #tg.place<global>>
  %c8 = tg.const 8 : tensor<index>
  %c3 = tg.const 3 : tensor<index>
  %u = tg.range 0 unroll to %c3 : tensor<index>
  %k = tg.range 1 reduce to %c8 : tensor<index>
  %xl = tg.index %x[%u, %k] : (tensor<3x8xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  // expected-error@below {{an ordered REDUCE over a loop inside an UNROLL range would not be in order}}
  %r = tg.reduce add %xv [] over %u, %k ordered : tensor<f32> -> tensor<f32>
  %s = tg.store %o, %r : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
}

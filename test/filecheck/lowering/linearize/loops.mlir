// RUN: tg-opt %s --verify-each=false -p tg-linearize | filecheck %s

// Loops nest as END says, and what does not change in a loop is computed before it: %h between the
// loops, the constants before both. One END closes both loops, which end at one point.

// CHECK-LABEL: tg.program @scale
// CHECK-NEXT:  tg.linear {
// CHECK:         %c2 = tg.const 2
// CHECK:         %i = tg.range 0 loop
// CHECK-NEXT:    %xl = tg.index %x[%i]
// CHECK-NEXT:    %xv = tg.load %xl
// CHECK-NEXT:    %h = tg.exp2 %xv
// CHECK-NEXT:    %j = tg.range 1 loop
// CHECK-NEXT:    %ji = tg.mul %j, %i
// CHECK-NEXT:    %ol = tg.index %o[%ji]
// CHECK-NEXT:    %s = tg.store %ol, %h
// CHECK-NEXT:    %e = tg.end %s over %j, %i
// CHECK-NEXT:    tg.sink %e opts [#tg.opt<nolocals>]
// CHECK-NEXT:  }
tg.kernel @scale {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %c4 = tg.const 4 : tensor<index>
  %c2 = tg.const 2 : tensor<index>
  %j = tg.range 1 loop to %c2 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %ji = tg.mul %j, %i : tensor<index>
  %ol = tg.index %o[%ji] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xl = tg.index %x[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %h = tg.exp2 %xv : tensor<f32>
  %dead = tg.exp2 %h : tensor<f32>
  %s = tg.store %ol, %h : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e opts [#tg.opt<nolocals>] : !tg.void
}

// An accumulator: it is set in the loop around, and AFTER has become the order. The value that %e1
// ends depends on the loop only through the accumulator.
// CHECK-LABEL: tg.program @row_sums
// CHECK:         %i = tg.range 0 loop
// CHECK-NEXT:    %init = tg.store %acc, %zero
// CHECK-NEXT:    %k = tg.range 1 reduce
// CHECK-NEXT:    %xl = tg.index %x[%i, %k]
// CHECK-NEXT:    %xv = tg.load %xl
// CHECK-NEXT:    %old = tg.load %acc
// CHECK-NEXT:    %new = tg.add %old, %xv
// CHECK-NEXT:    %update = tg.store %acc, %new
// CHECK-NEXT:    %e0 = tg.end %update over %k
// CHECK-NEXT:    %r = tg.load %acc
// CHECK-NEXT:    %s = tg.store %total, %r
// CHECK-NEXT:    %e1 = tg.end %s over %i
// CHECK-NOT:     tg.after
tg.kernel @row_sums {
  %total = tg.param 0 : tensor<f32, #tg.place<global>>
  %x = tg.param 1 : tensor<4x8xf32, #tg.place<global>>
  %zero = tg.const 0.0 : tensor<f32>
  %c4 = tg.const 4 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %k = tg.range 1 reduce to %c8 : tensor<index>
  %acc = tg.buffer 0 : tensor<f32, #tg.place<reg>>
  %outer = tg.after %acc, %i : (tensor<f32, #tg.place<reg>>, tensor<index>) -> tensor<f32, #tg.place<reg>>
  %init = tg.store %outer, %zero : tensor<f32, #tg.place<reg>>, tensor<f32>
  %xl = tg.index %x[%i, %k] : (tensor<4x8xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %in = tg.after %acc, %init, %k : (tensor<f32, #tg.place<reg>>, !tg.void, tensor<index>) -> tensor<f32, #tg.place<reg>>
  %old = tg.load %in : tensor<f32, #tg.place<reg>> -> tensor<f32>
  %new = tg.add %old, %xv : tensor<f32>
  %update = tg.store %in, %new : tensor<f32, #tg.place<reg>>, tensor<f32>
  %e0 = tg.end %update over %k : !tg.void
  %done = tg.after %acc, %e0 : (tensor<f32, #tg.place<reg>>, !tg.void) -> tensor<f32, #tg.place<reg>>
  %r = tg.load %done : tensor<f32, #tg.place<reg>> -> tensor<f32>
  %s = tg.store %total, %r : tensor<f32, #tg.place<global>>, tensor<f32>
  %e1 = tg.end %s over %i : !tg.void
  tg.sink %e1 : !tg.void
}

// One END closes two stores, and the outer one writes what the inner loop reads: it comes after that
// loop, so the END is split.
// CHECK-LABEL: tg.program @split
// CHECK:         %i = tg.range 0 loop
// CHECK:         %j = tg.range 1 loop
// CHECK:         %inner = tg.store %ol, %xv
// CHECK-NEXT:    [[J:%.*]] = tg.end %inner over %j
// CHECK-NEXT:    %outer = tg.store %x0, %v
// CHECK-NEXT:    %e = tg.end [[J]] over %i
// CHECK-NEXT:    tg.sink %e
tg.kernel @split {
  %o = tg.param 0 : tensor<4x4xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<4x4xf32, #tg.place<global>>
  %v = tg.const 1.0 : tensor<f32>
  %zero = tg.const 0 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %j = tg.range 1 loop to %c4 : tensor<index>
  %x0 = tg.index %x[%i, %zero] : (tensor<4x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %outer = tg.store %x0, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %xj = tg.index %x[%i, %j] : (tensor<4x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %ol = tg.index %o[%i, %j] : (tensor<4x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xj : tensor<f32, #tg.place<global>> -> tensor<f32>
  %inner = tg.store %ol, %xv : tensor<f32, #tg.place<global>>, tensor<f32>
  %both = tg.group %outer, %inner
  %e = tg.end %both over %j, %i : !tg.void
  tg.sink %e : !tg.void
}

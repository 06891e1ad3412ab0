// RUN: tg-opt %s -p tg-plan | filecheck %s

// %b is set when %a has been read for the last time: one buffer. %c keeps its value from one
// iteration to the next, so it is live in the whole loop, and %d is of another type.
// CHECK-LABEL: tg.program @phases
// CHECK:         %a = tg.buffer 0
// CHECK-NOT:     %b = tg.buffer
// CHECK:         %c = tg.buffer 2
// CHECK-NEXT:    %d = tg.buffer 3
// CHECK:         tg.store %c, %zero
// CHECK:         tg.range 0 loop
// CHECK:         tg.store %a, %zero
// CHECK:         %av = tg.load %a
// CHECK:         tg.store %a, %av
// CHECK:         %bv = tg.load %a
// CHECK:         tg.load %c
tg.program @phases {
  tg.linear {
    %o = tg.param 0 : tensor<f32, #tg.place<global>>
    %zero = tg.const 0.0 : tensor<f32>
    %half = tg.const 0.0 : tensor<f16>
    %c4 = tg.const 4 : tensor<index>
    %a = tg.buffer 0 : tensor<f32, #tg.place<reg>>
    %b = tg.buffer 1 : tensor<f32, #tg.place<reg>>
    %c = tg.buffer 2 : tensor<f32, #tg.place<reg>>
    %d = tg.buffer 3 : tensor<f16, #tg.place<reg>>
    %s0 = tg.store %c, %zero : tensor<f32, #tg.place<reg>>, tensor<f32>
    %i = tg.range 0 loop to %c4 : tensor<index>
    %s1 = tg.store %a, %zero : tensor<f32, #tg.place<reg>>, tensor<f32>
    %av = tg.load %a : tensor<f32, #tg.place<reg>> -> tensor<f32>
    %s2 = tg.store %b, %av : tensor<f32, #tg.place<reg>>, tensor<f32>
    %bv = tg.load %b : tensor<f32, #tg.place<reg>> -> tensor<f32>
    %s3 = tg.store %d, %half : tensor<f16, #tg.place<reg>>, tensor<f16>
    %dv = tg.load %d : tensor<f16, #tg.place<reg>> -> tensor<f16>
    %cv = tg.load %c : tensor<f32, #tg.place<reg>> -> tensor<f32>
    %sum = tg.add %bv, %cv : tensor<f32>
    %s4 = tg.store %c, %sum : tensor<f32, #tg.place<reg>>, tensor<f32>
    %e = tg.end %s4 over %i : !tg.void
    tg.sink %e : !tg.void
  }
}

// %b is read before it is written in each iteration: it has the value of the one before, or of the
// code before the loop, and cannot be where %a is. Nor can %c, of which only one cell is written.
// CHECK-LABEL: tg.program @carried
// CHECK:         %a = tg.buffer 0
// CHECK-NEXT:    %b = tg.buffer 1
// CHECK-NEXT:    %c = tg.buffer 2
tg.program @carried {
  tg.linear {
    %c0 = tg.const 0 : tensor<index>
    %c4 = tg.const 4 : tensor<index>
    %v = tg.const 0.0 : tensor<f32>
    %a = tg.buffer 0 : tensor<2xf32, #tg.place<reg>>
    %b = tg.buffer 1 : tensor<2xf32, #tg.place<reg>>
    %c = tg.buffer 2 : tensor<2xf32, #tg.place<reg>>
    %j = tg.range 1 loop to %c4 : tensor<index>
    %i = tg.range 0 loop to %c4 : tensor<index>
    %bv = tg.load %b : tensor<2xf32, #tg.place<reg>> -> tensor<2xf32>
    %s0 = tg.store %b, %bv : tensor<2xf32, #tg.place<reg>>, tensor<2xf32>
    %cl = tg.index %c[%c0] : (tensor<2xf32, #tg.place<reg>>, tensor<index>) -> tensor<f32, #tg.place<reg>>
    %s1 = tg.store %cl, %v : tensor<f32, #tg.place<reg>>, tensor<f32>
    %cj = tg.index %c[%j] : (tensor<2xf32, #tg.place<reg>>, tensor<index>) -> tensor<f32, #tg.place<reg>>
    %cv = tg.load %cj : tensor<f32, #tg.place<reg>> -> tensor<f32>
    %s2 = tg.store %a, %bv : tensor<2xf32, #tg.place<reg>>, tensor<2xf32>
    %av = tg.load %a : tensor<2xf32, #tg.place<reg>> -> tensor<2xf32>
    %e = tg.end %s2 over %i : !tg.void
    %f = tg.end %e over %j : !tg.void
    tg.sink %f : !tg.void
  }
}

// A buffer that an inner loop uses is live in all of that loop: %b is not where %a is.
// CHECK-LABEL: tg.program @inner_loop
// CHECK:         %a = tg.buffer 0
// CHECK-NEXT:    %b = tg.buffer 1
// CHECK-NEXT:    tg.store %a
tg.program @inner_loop {
  tg.linear {
    %v = tg.const 0.0 : tensor<f32>
    %c4 = tg.const 4 : tensor<index>
    %a = tg.buffer 0 : tensor<f32, #tg.place<reg>>
    %b = tg.buffer 1 : tensor<f32, #tg.place<reg>>
    %s0 = tg.store %a, %v : tensor<f32, #tg.place<reg>>, tensor<f32>
    %i = tg.range 0 loop to %c4 : tensor<index>
    %av = tg.load %a : tensor<f32, #tg.place<reg>> -> tensor<f32>
    %s1 = tg.store %b, %av : tensor<f32, #tg.place<reg>>, tensor<f32>
    %bv = tg.load %b : tensor<f32, #tg.place<reg>> -> tensor<f32>
    %e = tg.end %s1 over %i : !tg.void
    tg.sink %e : !tg.void
  }
}

// STOREs through constant lanes fill %a in each iteration before it is read, and %b after that: one
// buffer. Of %c they fill all cells but the last, which keeps its value: it is live in the whole loop.
// CHECK-LABEL: tg.program @lanes
// CHECK:         %a = tg.buffer 0
// CHECK-NOT:     %b = tg.buffer
// CHECK:         %c = tg.buffer 2
// CHECK:         tg.range 0 loop
tg.program @lanes {
  tg.linear {
    %x = tg.param 0 : tensor<4xf32, #tg.place<global>>
    %n = tg.const 4 : tensor<index>
    %two = tg.const 2 : tensor<index>
    %low = tg.vconst [0, 1] : tensor<2xindex>
    %high = tg.add %low, %two : (tensor<2xindex>, tensor<index>) -> tensor<2xindex>
    %odd = tg.vconst [1, 2] : tensor<2xindex>
    %a = tg.buffer 0 : tensor<4xf32, #tg.place<reg>>
    %b = tg.buffer 1 : tensor<4xf32, #tg.place<reg>>
    %c = tg.buffer 2 : tensor<4xf32, #tg.place<reg>>
    %xl = tg.index %x[%low] : (tensor<4xf32, #tg.place<global>>, tensor<2xindex>) -> tensor<2xf32, #tg.place<global>>
    %al = tg.index %a[%low] : (tensor<4xf32, #tg.place<reg>>, tensor<2xindex>) -> tensor<2xf32, #tg.place<reg>>
    %ah = tg.index %a[%high] : (tensor<4xf32, #tg.place<reg>>, tensor<2xindex>) -> tensor<2xf32, #tg.place<reg>>
    %bl = tg.index %b[%low] : (tensor<4xf32, #tg.place<reg>>, tensor<2xindex>) -> tensor<2xf32, #tg.place<reg>>
    %bh = tg.index %b[%high] : (tensor<4xf32, #tg.place<reg>>, tensor<2xindex>) -> tensor<2xf32, #tg.place<reg>>
    %cl = tg.index %c[%low] : (tensor<4xf32, #tg.place<reg>>, tensor<2xindex>) -> tensor<2xf32, #tg.place<reg>>
    %co = tg.index %c[%odd] : (tensor<4xf32, #tg.place<reg>>, tensor<2xindex>) -> tensor<2xf32, #tg.place<reg>>
    %i = tg.range 0 loop to %n : tensor<index>
    %v = tg.load %xl : tensor<2xf32, #tg.place<global>> -> tensor<2xf32>
    %s0 = tg.store %al, %v : tensor<2xf32, #tg.place<reg>>, tensor<2xf32>
    %s1 = tg.store %ah, %v : tensor<2xf32, #tg.place<reg>>, tensor<2xf32>
    %av = tg.load %ah : tensor<2xf32, #tg.place<reg>> -> tensor<2xf32>
    %s2 = tg.store %bl, %av : tensor<2xf32, #tg.place<reg>>, tensor<2xf32>
    %s3 = tg.store %bh, %av : tensor<2xf32, #tg.place<reg>>, tensor<2xf32>
    %bv = tg.load %b : tensor<4xf32, #tg.place<reg>> -> tensor<4xf32>
    %s4 = tg.store %cl, %av : tensor<2xf32, #tg.place<reg>>, tensor<2xf32>
    %s5 = tg.store %co, %av : tensor<2xf32, #tg.place<reg>>, tensor<2xf32>
    %cv = tg.load %c : tensor<4xf32, #tg.place<reg>> -> tensor<4xf32>
    %s6 = tg.store %x, %cv : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
    %s7 = tg.store %x, %bv : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
    %e = tg.end %s7 over %i : !tg.void
    tg.sink %e : !tg.void
  }
}

// %b comes after %a, and takes over from it. Its view is before the BUFFER of %a, which moves there.
// CHECK-LABEL: tg.program @early_view
// CHECK:         %a = tg.buffer 0
// CHECK-NEXT:    %bl = tg.index %a[%c0]
// CHECK-NOT:     tg.buffer
tg.program @early_view {
  tg.linear {
    %x = tg.param 0 : tensor<2xf32, #tg.place<global>>
    %c0 = tg.const 0 : tensor<index>
    %b = tg.buffer 1 : tensor<2xf32, #tg.place<reg>>
    %bl = tg.index %b[%c0] : (tensor<2xf32, #tg.place<reg>>, tensor<index>) -> tensor<f32, #tg.place<reg>>
    %a = tg.buffer 0 : tensor<2xf32, #tg.place<reg>>
    %xv = tg.load %x : tensor<2xf32, #tg.place<global>> -> tensor<2xf32>
    %s0 = tg.store %a, %xv : tensor<2xf32, #tg.place<reg>>, tensor<2xf32>
    %av = tg.load %a : tensor<2xf32, #tg.place<reg>> -> tensor<2xf32>
    %s1 = tg.store %b, %av : tensor<2xf32, #tg.place<reg>>, tensor<2xf32>
    %bv = tg.load %bl : tensor<f32, #tg.place<reg>> -> tensor<f32>
    %y = tg.index %x[%c0] : (tensor<2xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %s2 = tg.store %y, %bv : tensor<f32, #tg.place<global>>, tensor<f32>
    tg.sink %s2 : !tg.void
  }
}

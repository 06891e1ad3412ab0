// RUN: tg-opt %s -p tg-linearize | filecheck %s

// A read without AFTER sees what was there before every STORE, wherever it stands.

// CHECK-LABEL: tg.program @swap
// CHECK-DAG:     %av = tg.load %al
// CHECK-DAG:     %bv = tg.load %bl
// CHECK:         %sa = tg.store %al, %bv
// CHECK-NEXT:    %sb = tg.store %bl, %av
tg.kernel @swap {
  %a = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %b = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %zero = tg.const 0 : tensor<index>
  %al = tg.index %a[%zero] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %bl = tg.index %b[%zero] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %bv = tg.load %bl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %sa = tg.store %al, %bv : tensor<f32, #tg.place<global>>, tensor<f32>
  %av = tg.load %al : tensor<f32, #tg.place<global>> -> tensor<f32>
  %sb = tg.store %bl, %av : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %sa, %sb : !tg.void, !tg.void
}

// A loop that reads the buffer comes before the loop that writes it.
// CHECK-LABEL: tg.program @loops
// CHECK:         %j = tg.range 1 loop
// CHECK:         %e1 = tg.end %s1 over %j
// CHECK:         %i = tg.range 0 loop
// CHECK:         %e0 = tg.end %s0 over %i
tg.kernel @loops {
  %a = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %b = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %one = tg.const 1.0 : tensor<f32>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %ai = tg.index %a[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s0 = tg.store %ai, %one : tensor<f32, #tg.place<global>>, tensor<f32>
  %e0 = tg.end %s0 over %i : !tg.void
  %j = tg.range 1 loop to %c4 : tensor<index>
  %aj = tg.index %a[%j] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %aj : tensor<f32, #tg.place<global>> -> tensor<f32>
  %bj = tg.index %b[%j] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s1 = tg.store %bj, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %e1 = tg.end %s1 over %j : !tg.void
  tg.sink %e0, %e1 : !tg.void, !tg.void
}

// STOREs of one value to one cell are no race.
// CHECK-LABEL: tg.program @equal
// CHECK-COUNT-2: tg.store
tg.kernel @equal {
  %a = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %b = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %zero = tg.const 0 : tensor<index>
  %al = tg.index %a[%zero] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %bl = tg.index %b[%zero] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %bl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %s = tg.store %al, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %bm = tg.index %b[%zero] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %w = tg.load %bm : tensor<f32, #tg.place<global>> -> tensor<f32>
  %t = tg.store %al, %w : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s, %t : !tg.void, !tg.void
}

// OptOps make iterations that store equal values to one cell, in forms that differ.
// CHECK-LABEL: tg.program @scheduled
// CHECK-COUNT-2: tg.store
tg.kernel @scheduled {
  %a = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %zero = tg.const 0 : tensor<index>
  %one = tg.const 1.0 : tensor<f32>
  %two = tg.const 2.0 : tensor<f32>
  %same = tg.sub %two, %one : tensor<f32>
  %al = tg.index %a[%zero] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %al, %one : tensor<f32, #tg.place<global>>, tensor<f32>
  %t = tg.store %al, %same : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s, %t opts [#tg.opt<nolocals>] : !tg.void, !tg.void
}

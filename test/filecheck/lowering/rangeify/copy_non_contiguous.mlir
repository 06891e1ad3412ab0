// RUN: tg-opt %s -p tg-copy-non-contiguous | filecheck %s

// A kernel is called with a FLIP: a copy of it is passed.

// CHECK:      [[FLIP:%\S+]] = tg.flip %x
// CHECK-NEXT: [[COPY:%\S+]] = tg.buffer
// CHECK-NEXT: [[STORE:%\S+]] = tg.store [[COPY]], [[FLIP]]
// CHECK-NEXT: [[AFTER:%\S+]] = tg.after [[COPY]], [[STORE]]
// CHECK-NEXT: tg.call @copy(%r, [[AFTER]])

tg.kernel @copy {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %n = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %p = tg.index %x[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %p : tensor<f32, #tg.place<global>> -> tensor<f32>
  %q = tg.index %o[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %q, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %d = tg.end %s over %i : !tg.void
  %k = tg.sink %d : !tg.void
}
func.func @main(%x: tensor<4xf32, #tg.place<"CPU", global>>, %r: tensor<4xf32, #tg.place<"CPU", global>> {tg.output}) {
  %f = tg.flip %x [true] : tensor<4xf32, #tg.place<"CPU", global>>
  %c = tg.call @copy(%r, %f) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  %k = tg.sink %c : !tg.void
  func.return
}

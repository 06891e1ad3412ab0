// RUN: tg-opt %s -p tg-rangeify,tg-verify{level=kernels} | filecheck %s

// Cells that follow each other are passed where they are; others in a copy, which is copied back.

tg.kernel @negate {
  %o = tg.param 0 : tensor<6xf32, #tg.place<global>>
  %n = tg.const 6 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %p = tg.index %o[%i] : (tensor<6xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %x = tg.load %p : tensor<f32, #tg.place<global>> -> tensor<f32>
  %y = tg.neg %x : tensor<f32>
  %s = tg.store %p, %y : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// CHECK-LABEL: func.func @together
// CHECK-NEXT: %v = tg.reshape %a [6]
// CHECK-NEXT: %0 = tg.call @negate(%v)
// CHECK: tg.sink %0
func.func @together(%a: tensor<2x3xf32, #tg.place<"CPU", global>>) {
  %v = tg.reshape %a [6] : tensor<2x3xf32, #tg.place<"CPU", global>> -> tensor<6xf32, #tg.place<"CPU", global>>
  %0 = tg.call @negate(%v) : tensor<6xf32, #tg.place<"CPU", global>> -> !tg.void
  tg.sink %0 : !tg.void
  func.return
}

// CHECK-LABEL: func.func @apart
// CHECK-NEXT: [[B:%.*]] = tg.buffer 0 : tensor<6xf32, #tg.place<"CPU", global>>
// CHECK-NEXT: tg.call @apart_0([[B]], %a)
// CHECK: tg.call @negate(
// CHECK: tg.call @apart_1(
func.func @apart(%a: tensor<6xf32, #tg.place<"CPU", global>>) {
  %v = tg.flip %a [true] : tensor<6xf32, #tg.place<"CPU", global>>
  %0 = tg.call @negate(%v) : tensor<6xf32, #tg.place<"CPU", global>> -> !tg.void
  tg.sink %0 : !tg.void
  func.return
}

// CUSTOM is kept, of registers: narrow floats are passed as f32, and the result is rounded.

// RUN: tg-opt %s -p 'tg-select{features=f16c}' | filecheck %s

// CHECK: %x = tg.custom "f({0})"(%{{.*}}) {inline} : tensor<4xf32>
// CHECK-NEXT: tg.cast %x to f16 : tensor<4xf32> -> tensor<4xf16>
tg.kernel @half {
  %p = tg.param 0 : tensor<4xf16, #tg.place<global>>
  %v = tg.load %p : tensor<4xf16, #tg.place<global>> -> tensor<4xf16>
  %x = tg.custom "f({0})"(%v) {inline} : tensor<4xf16>
  %s = tg.store %p, %x : tensor<4xf16, #tg.place<global>>, tensor<4xf16>
  %k = tg.sink %s : !tg.void
}

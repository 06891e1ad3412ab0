// CUSTOM of lanes is a CUSTOM of a vector; one without a result is executed for each lane.

// RUN: tg-opt %s -p tg-expand | filecheck %s

// CHECK-LABEL: @lanes
// CHECK: %x = tg.custom "f({0}, {1})"({{.*}}) {inline} : (tensor<4xf32>, tensor<4xindex>) -> tensor<4xf32>
tg.kernel @lanes {
  %p = tg.param 0 : tensor<8x4xf32, #tg.place<global>>
  %c8 = tg.const 8 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %c8 : tensor<index>
  %j = tg.range 1 upcast to %c4 : tensor<index>
  %at = tg.index %p[%i, %j] : (tensor<8x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %x = tg.custom "f({0}, {1})"(%v, %i) {inline} : (tensor<f32>, tensor<index>) -> tensor<f32>
  %s = tg.store %at, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  %k = tg.sink %e : !tg.void
}

// CHECK-LABEL: @effects
// CHECK: tg.custom "g({0})"({{.*}}) : tensor<4xindex> -> !tg.void
tg.kernel @effects {
  %c4 = tg.const 4 : tensor<index>
  %j = tg.range 1 upcast to %c4 : tensor<index>
  %x = tg.custom "g({0})"(%j) : tensor<index> -> !tg.void
  %e = tg.end %x over %j : !tg.void
  %k = tg.sink %e : !tg.void
}

// RUN: tg-opt %s -p tg-expand --verify-each=true | filecheck %s

// An UPCAST range is an axis: the constant vector of its iterations, and everything that depends on
// it. What does not depend on it broadcasts.

// CHECK-LABEL: tg.kernel @add_row
tg.kernel @add_row {
  %o = tg.param 0 : tensor<8x4xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8x4xf32, #tg.place<global>>
  %y = tg.param 2 : tensor<8xf32, #tg.place<global>>
  %c8 = tg.const 8 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %c8 : tensor<index>
  %j = tg.range 1 upcast to %c4 : tensor<index>
  // CHECK:      %i = tg.range 0 loop to %c8
  // CHECK:      %j = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
  %xl = tg.index %x[%i, %j] : (tensor<8x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %yl = tg.index %y[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %ol = tg.index %o[%i, %j] : (tensor<8x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %yv = tg.load %yl : tensor<f32, #tg.place<global>> -> tensor<f32>
  // CHECK:      %xl = tg.index %x[%i, %j] : {{.*}} -> tensor<4xf32, #tg.place<global>>
  // CHECK-NEXT: %yl = tg.index %y[%i] : {{.*}} -> tensor<f32, #tg.place<global>>
  // CHECK:      %xv = tg.load %xl : {{.*}} -> tensor<4xf32>
  // CHECK-NEXT: %yv = tg.load %yl : {{.*}} -> tensor<f32>
  %s = tg.add %xv, %yv : tensor<f32>
  // CHECK-NEXT: %s = tg.add %xv, %yv : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %st = tg.store %ol, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %st over %j, %i : !tg.void
  // CHECK-NEXT: %st = tg.store %ol, %s : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
  // CHECK-NEXT: %e = tg.end %st over %i
  // CHECK-NEXT: tg.sink %e
  tg.sink %e : !tg.void
}

// Only UPCAST: no loop is left, and no END.
// CHECK-LABEL: tg.kernel @all_of_it
// CHECK-NOT:   tg.range
// CHECK-NOT:   tg.end
// CHECK:       tg.expand %{{.*}} [2, 4] : {{.*}} -> tensor<2x4xf32>
// CHECK:       %st = tg.store {{.*}} tensor<2x4xf32, #tg.place<global>>, tensor<2x4xf32>
// CHECK-NEXT:  tg.sink %st
tg.kernel @all_of_it {
  %o = tg.param 0 : tensor<2x4xf32, #tg.place<global>>
  %c2 = tg.const 2 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %one = tg.const 1.0 : tensor<f32>
  %i = tg.range 0 upcast to %c2 : tensor<index>
  %j = tg.range 1 upcast to %c4 : tensor<index>
  %ol = tg.index %o[%i, %j] : (tensor<2x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %ol, %one : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %st over %j, %i : !tg.void
  tg.sink %e : !tg.void
}

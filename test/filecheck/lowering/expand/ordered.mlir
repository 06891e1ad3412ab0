// RUN: tg-opt %s -p tg-expand --verify-each=true | filecheck %s

// An ordered sum adds the lanes of an unrolled range one after the other; another sum adds them to
// each other first.

// CHECK-LABEL: tg.kernel @ordered
tg.kernel @ordered {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %x = tg.param 1 : tensor<8x3xf32, #tg.place<global>>
  %c8 = tg.const 8 : tensor<index>
  %c3 = tg.const 3 : tensor<index>
  %k = tg.range 0 reduce to %c8 : tensor<index>
  %u = tg.range 1 unroll to %c3 : tensor<index>
  %xl = tg.index %x[%k, %u] : (tensor<8x3xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %r = tg.reduce add %xv [] over %k, %u ordered : tensor<f32> -> tensor<f32>
  %s = tg.store %o, %r : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
  // CHECK-NOT:  tg.reduce
  // CHECK:      [[OLD:%.*]] = tg.load %{{.*}} : tensor<f32, #tg.place<reg>>
  // CHECK:      [[X0:%.*]] = tg.index %xv[%{{.*}}] : {{.*}} -> tensor<f32>
  // CHECK-NEXT: [[S0:%.*]] = tg.add [[OLD]], [[X0]]
  // CHECK:      [[X1:%.*]] = tg.index %xv
  // CHECK-NEXT: [[S1:%.*]] = tg.add [[S0]], [[X1]]
  // CHECK:      [[X2:%.*]] = tg.index %xv
  // CHECK-NEXT: [[S2:%.*]] = tg.add [[S1]], [[X2]]
  // CHECK-NEXT: tg.store %{{.*}}, [[S2]]
}

// With nothing but lanes it stays an ordered REDUCE.
// CHECK-LABEL: tg.kernel @lanes
// CHECK:       tg.reduce add %xv [0] ordered : tensor<3xf32> -> tensor<1xf32>
// CHECK-NOT:   tg.buffer
tg.kernel @lanes {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %x = tg.param 1 : tensor<3xf32, #tg.place<global>>
  %c3 = tg.const 3 : tensor<index>
  %u = tg.range 1 unroll to %c3 : tensor<index>
  %xl = tg.index %x[%u] : (tensor<3xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %r = tg.reduce add %xv [] over %u ordered : tensor<f32> -> tensor<f32>
  %s = tg.store %o, %r : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
}

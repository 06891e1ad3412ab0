// RUN: tg-opt %s -p 'tg-select{features=avx},tg-verify{level=target}' | filecheck %s
// RUN: tg-opt %s -p 'tg-select{features=sse2},tg-verify{level=target}' | filecheck %s --check-prefix=SSE

// A tile of 6 rows whose columns lie together in memory: with masks each column is one store of the
// first lanes of a vector, without there are two of 4, which overlap. A row of 6 is one vector in
// registers of 8, and two in registers of 4; where all of an accumulator is 0 there is one store.

// CHECK-LABEL:  tg.kernel @columns
// CHECK:        tg.load %{{.*}} : tensor<8xf32, #tg.place<global>> -> tensor<8xf32>
// CHECK:        %[[MASK:.*]] = tg.stack %[[T:.*]], %[[T]], %[[T]], %[[T]], %[[T]], %[[T]], %[[F:.*]], %[[F]] : {{.*}} -> tensor<8xi1>
// CHECK:        tg.permute %{{.*}} [1, 0] : tensor<8x8xf32>
// CHECK-COUNT-8: tg.store %{{.*}}, %{{.*}} gate %[[MASK]] : tensor<8xf32, #tg.place<global>>, tensor<8xf32>, tensor<8xi1>
// CHECK-NOT:    tg.store

// SSE-LABEL:    tg.kernel @columns
// SSE-COUNT-16: tg.store %{{.*}}, %{{.*}} : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
// SSE-NOT:      tg.store
tg.kernel @columns {
  %o = tg.param 0 : tensor<8x6xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<6x8xf32, #tg.place<global>>
  %x = tg.load %p : tensor<6x8xf32, #tg.place<global>> -> tensor<6x8xf32>
  %t = tg.permute %o [1, 0] : tensor<8x6xf32, #tg.place<global>> -> tensor<6x8xf32, #tg.place<global>>
  %s = tg.store %t, %x : tensor<6x8xf32, #tg.place<global>>, tensor<6x8xf32>
  tg.sink %s : !tg.void
}

// CHECK-LABEL:  tg.kernel @rows
// CHECK-COUNT-2: tg.load %{{.*}} : tensor<6xf32, #tg.place<global>> -> tensor<6xf32>
// CHECK:        %[[ZERO:.*]] = tg.expand %{{.*}} [12] : tensor<1xf32> -> tensor<12xf32>
// CHECK:        tg.store %acc, %[[ZERO]] : tensor<12xf32, #tg.place<reg>>, tensor<12xf32>

// SSE-LABEL:    tg.kernel @rows
// SSE:          tg.load %{{.*}} : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>
// SSE:          tg.load %{{.*}} : tensor<2xf32, #tg.place<global>> -> tensor<2xf32>
tg.kernel @rows {
  %o = tg.param 0 : tensor<2x6xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<2x6xf32, #tg.place<global>>
  %x = tg.load %p : tensor<2x6xf32, #tg.place<global>> -> tensor<2x6xf32>
  %acc = tg.buffer 0 : tensor<2x6xf32, #tg.place<reg>>
  %z = tg.const 0.0 : tensor<f32>
  %r = tg.reshape %z [1, 1] : tensor<f32> -> tensor<1x1xf32>
  %e = tg.expand %r [2, 6] : tensor<1x1xf32> -> tensor<2x6xf32>
  %i = tg.store %acc, %e : tensor<2x6xf32, #tg.place<reg>>, tensor<2x6xf32>
  %a = tg.after %acc, %i : (tensor<2x6xf32, #tg.place<reg>>, !tg.void) -> tensor<2x6xf32, #tg.place<reg>>
  %v = tg.load %a : tensor<2x6xf32, #tg.place<reg>> -> tensor<2x6xf32>
  %y = tg.add %v, %x : tensor<2x6xf32>
  %s = tg.store %o, %y : tensor<2x6xf32, #tg.place<global>>, tensor<2x6xf32>
  tg.sink %s : !tg.void
}

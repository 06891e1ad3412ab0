// RUN: tg-opt %s -p tg-expand --verify-each=true | filecheck %s

// One index with two axes is flattened for INDEX, and the location takes them apart again.
// CHECK-LABEL: tg.kernel @two_axes
tg.kernel @two_axes {
  %o = tg.param 0 : tensor<2x4xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %c2 = tg.const 2 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 upcast to %c2 : tensor<index>
  %j = tg.range 1 upcast to %c4 : tensor<index>
  %i4 = tg.mul %i, %c4 : tensor<index>
  %f = tg.add %i4, %j : tensor<index>
  // CHECK:      %f = tg.add {{.*}} -> tensor<2x4xindex>
  // CHECK-NEXT: [[F:%.*]] = tg.reshape %f [8]
  // CHECK-NEXT: [[L:%.*]] = tg.index %x[[[F]]] : {{.*}} -> tensor<8xf32, #tg.place<global>>
  // CHECK-NEXT: %xl = tg.reshape [[L]] [2, 4]
  %xl = tg.index %x[%f] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %ol = tg.index %o[%i, %j] : (tensor<2x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %ol, %xv : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e : !tg.void
}

// Two indices with one axis go together: the buffer is indexed as one axis.
// CHECK-LABEL: tg.kernel @diagonal
tg.kernel @diagonal {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<4x4xf32, #tg.place<global>>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 upcast to %c4 : tensor<index>
  // CHECK:      [[ROW:%.*]] = tg.mul %i, %{{.*}} : {{.*}} -> tensor<4xindex>
  // CHECK-NEXT: [[F:%.*]] = tg.add [[ROW]], %i
  // CHECK-NEXT: [[X:%.*]] = tg.reshape %x [16]
  // CHECK-NEXT: %xl = tg.index [[X]][[[F]]] : {{.*}} -> tensor<4xf32, #tg.place<global>>
  %xl = tg.index %x[%i, %i] : (tensor<4x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %ol = tg.index %o[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %ol, %xv : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// An index that may be outside stays outside: beyond the last column is not the next row.
// CHECK-LABEL: tg.kernel @outside
tg.kernel @outside {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %n = tg.param 2 "n" min 1 max 8 : tensor<index>
  %x = tg.param 1 (%n) : tensor<?x4xf32, #tg.place<global>>
  %c1 = tg.const 1 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 upcast to %c4 : tensor<index>
  %i1 = tg.add %i, %c1 : tensor<index>
  // CHECK:      tg.cmpge %i, %{{.*}}
  // CHECK-NEXT: tg.cmplt %i, %n
  // CHECK-NEXT: [[ROWS:%.*]] = tg.and
  // CHECK:      tg.cmplt %i1, %
  // CHECK-NEXT: [[COLUMNS:%.*]] = tg.and
  // CHECK-NEXT: [[IN:%.*]] = tg.and [[ROWS]], [[COLUMNS]]
  // CHECK:      [[F:%.*]] = tg.where [[IN]], %{{.*}}, %{{.*}} : {{.*}} -> tensor<4xindex>
  // CHECK-NEXT: [[SIZE:%.*]] = tg.mul %n, %c4
  // CHECK-NEXT: [[X:%.*]] = tg.reshape %x [[[SIZE]]]
  // CHECK-NEXT: %xl = tg.index [[X]][[[F]]]
  %xl = tg.index %x[%i, %i1] : (tensor<?x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %ol = tg.index %o[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %ol, %xv : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

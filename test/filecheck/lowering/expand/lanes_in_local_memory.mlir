// RUN: tg-opt %s -p tg-expand | filecheck %s
// RUN: tg-opt %s -p 'tg-expand,tg-select{target=nvidia:sm_80}' | filecheck %s --check-prefix=SELECT

// Lanes that go through LOCAL memory: BITCAST and INS are of vectors, and one BARRIER waits for all lanes.

// SELECT: %b = tg.barrier %e : !tg.void
// SELECT: tg.after %{{.*}}, %b :

// CHECK-LABEL: tg.kernel @bits
// CHECK-NEXT: %o = tg.param 0 : tensor<4x4xi32, #tg.place<global>>
// CHECK-NEXT: %p = tg.param 1 : tensor<4x4xf32, #tg.place<global>>
// CHECK-NEXT: %t = tg.buffer 0 : tensor<4x4xf32, #tg.place<local>>
// CHECK-NEXT: %c4 = tg.const 4 : tensor<index>
// CHECK-NEXT: %i = tg.range 0 local to %c4 : tensor<index>
// CHECK-NEXT: %j = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
// CHECK-NEXT: %pa = tg.index %p[%i, %j] : (tensor<4x4xf32, #tg.place<global>>, tensor<index>, tensor<4xindex>) -> tensor<4xf32, #tg.place<global>>
// CHECK-NEXT: %x = tg.load %pa : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>
// CHECK-NEXT: %ta = tg.index %t[%i, %j] : (tensor<4x4xf32, #tg.place<local>>, tensor<index>, tensor<4xindex>) -> tensor<4xf32, #tg.place<local>>
// CHECK-NEXT: %s = tg.store %ta, %x : tensor<4xf32, #tg.place<local>>, tensor<4xf32>
// CHECK-NEXT: %e = tg.end %s over %i : !tg.void
// CHECK-NEXT: %b = tg.barrier %e : !tg.void
// CHECK-NEXT: %u = tg.after %t, %b : (tensor<4x4xf32, #tg.place<local>>, !tg.void) -> tensor<4x4xf32, #tg.place<local>>
// CHECK-NEXT: %m = tg.range 2 local to %c4 : tensor<index>
// CHECK-NEXT: %n = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
// CHECK-NEXT: %ua = tg.index %u[%n, %m] : (tensor<4x4xf32, #tg.place<local>>, tensor<4xindex>, tensor<index>) -> tensor<4xf32, #tg.place<local>>
// CHECK-NEXT: %y = tg.load %ua : tensor<4xf32, #tg.place<local>> -> tensor<4xf32>
// CHECK-NEXT: %z = tg.bitcast %y to i32 : tensor<4xf32> -> tensor<4xi32>
// CHECK-NEXT: %oa = tg.index %o[%m, %n] : (tensor<4x4xi32, #tg.place<global>>, tensor<index>, tensor<4xindex>) -> tensor<4xi32, #tg.place<global>>
// CHECK-NEXT: %v = tg.store %oa, %z : tensor<4xi32, #tg.place<global>>, tensor<4xi32>
// CHECK-NEXT: %w = tg.end %v over %m : !tg.void
// CHECK-NEXT: %[[V0:.*]] = tg.sink %w : !tg.void

#g = #tg.place<global>
#l = #tg.place<local>
tg.kernel @bits {
  %o = tg.param 0 : tensor<4x4xi32, #g>
  %p = tg.param 1 : tensor<4x4xf32, #g>
  %t = tg.buffer 0 : tensor<4x4xf32, #l>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 local to %c4 : tensor<index>
  %j = tg.range 1 upcast to %c4 : tensor<index>
  %pa = tg.index %p[%i, %j] : (tensor<4x4xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %x = tg.load %pa : tensor<f32, #g> -> tensor<f32>
  %ta = tg.index %t[%i, %j] : (tensor<4x4xf32, #l>, tensor<index>, tensor<index>) -> tensor<f32, #l>
  %s = tg.store %ta, %x : tensor<f32, #l>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  %b = tg.barrier %e : !tg.void
  %u = tg.after %t, %b : (tensor<4x4xf32, #l>, !tg.void) -> tensor<4x4xf32, #l>
  %m = tg.range 2 local to %c4 : tensor<index>
  %n = tg.range 3 upcast to %c4 : tensor<index>
  %ua = tg.index %u[%n, %m] : (tensor<4x4xf32, #l>, tensor<index>, tensor<index>) -> tensor<f32, #l>
  %y = tg.load %ua : tensor<f32, #l> -> tensor<f32>
  %z = tg.bitcast %y to i32 : tensor<f32> -> tensor<i32>
  %oa = tg.index %o[%m, %n] : (tensor<4x4xi32, #g>, tensor<index>, tensor<index>) -> tensor<i32, #g>
  %v = tg.store %oa, %z : tensor<i32, #g>, tensor<i32>
  %w = tg.end %v over %n, %m : !tg.void
  tg.sink %w : !tg.void
}

// CHECK-LABEL: tg.kernel @instruction
// CHECK: %z = tg.ins "nvidia:sm_80.cvt.rna.tf32.f32"(%y) : tensor<4xf32> -> tensor<4xui32>
tg.kernel @instruction {
  %o = tg.param 0 : tensor<4x4xui32, #g>
  %p = tg.param 1 : tensor<4x4xf32, #g>
  %t = tg.buffer 0 : tensor<4x4xf32, #l>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 local to %c4 : tensor<index>
  %j = tg.range 1 upcast to %c4 : tensor<index>
  %pa = tg.index %p[%i, %j] : (tensor<4x4xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %x = tg.load %pa : tensor<f32, #g> -> tensor<f32>
  %ta = tg.index %t[%i, %j] : (tensor<4x4xf32, #l>, tensor<index>, tensor<index>) -> tensor<f32, #l>
  %s = tg.store %ta, %x : tensor<f32, #l>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  %b = tg.barrier %e : !tg.void
  %u = tg.after %t, %b : (tensor<4x4xf32, #l>, !tg.void) -> tensor<4x4xf32, #l>
  %m = tg.range 2 local to %c4 : tensor<index>
  %n = tg.range 3 upcast to %c4 : tensor<index>
  %ua = tg.index %u[%n, %m] : (tensor<4x4xf32, #l>, tensor<index>, tensor<index>) -> tensor<f32, #l>
  %y = tg.load %ua : tensor<f32, #l> -> tensor<f32>
  %z = tg.ins "nvidia:sm_80.cvt.rna.tf32.f32"(%y) : tensor<f32> -> tensor<ui32>
  %oa = tg.index %o[%m, %n] : (tensor<4x4xui32, #g>, tensor<index>, tensor<index>) -> tensor<ui32, #g>
  %v = tg.store %oa, %z : tensor<ui32, #g>, tensor<ui32>
  %w = tg.end %v over %n, %m : !tg.void
  tg.sink %w : !tg.void
}

// RUN: tg-opt %s --verify-each=false -p 'tg-select,tg-verify{level=target}' | filecheck %s

// Memory is indexed by one flat index of a one-dimensional view; extents may be dynamic.

#g = #tg.place<global>
!i = tensor<index>
tg.kernel @transpose {
  %n = tg.param 0 "n" min 1 max 64 : !i
  %o = tg.param 1 (%n) : tensor<3x?xf32, #g>
  %x = tg.param 2 (%n) : tensor<?x3xf32, #g>
  %c3 = tg.const 3 : !i
  %i = tg.range 0 loop to %n : !i
  %j = tg.range 1 loop to %c3 : !i
  %px = tg.index %x[%i, %j] : (tensor<?x3xf32, #g>, !i, !i) -> tensor<f32, #g>
  %v = tg.load %px : tensor<f32, #g> -> tensor<f32>
  %po = tg.index %o[%j, %i] : (tensor<3x?xf32, #g>, !i, !i) -> tensor<f32, #g>
  %s = tg.store %po, %v : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e : !tg.void
}

// CHECK-LABEL: tg.kernel @transpose for "cpu" {
// CHECK-NEXT:   %n = tg.param 0 "n" min 1 max 64 : tensor<index>
// CHECK-NEXT:   %o = tg.param 1(%n) : tensor<3x?xf32, #tg.place<global>>
// CHECK-NEXT:   %c3 = tg.const 3 : tensor<index>
// CHECK-NEXT:   %0 = tg.mul %n, %c3 : tensor<index>
// CHECK-NEXT:   %1 = tg.reshape %o [%0] : tensor<3x?xf32, #tg.place<global>> -> tensor<?xf32, #tg.place<global>>
// CHECK-NEXT:   %x = tg.param 2(%n) : tensor<?x3xf32, #tg.place<global>>
// CHECK-NEXT:   %2 = tg.reshape %x [%0] : tensor<?x3xf32, #tg.place<global>> -> tensor<?xf32, #tg.place<global>>
// CHECK-NEXT:   %i = tg.range 0 loop to %n : tensor<index>
// CHECK-NEXT:   %j = tg.range 1 loop to %c3 : tensor<index>
// CHECK-NEXT:   %3 = tg.mul %i, %c3 : tensor<index>
// CHECK-NEXT:   %4 = tg.add %3, %j : tensor<index>
// CHECK-NEXT:   %5 = tg.index %2[%4] : (tensor<?xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %v = tg.load %5 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %6 = tg.mul %j, %n : tensor<index>
// CHECK-NEXT:   %7 = tg.add %6, %i : tensor<index>
// CHECK-NEXT:   %8 = tg.index %1[%7] : (tensor<?xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %s = tg.store %8, %v : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT:   %e = tg.end %s over %j, %i : !tg.void
// CHECK-NEXT:   %9 = tg.sink %e : !tg.void
// CHECK-NEXT: }

tg.kernel @views {
  %o = tg.param 0 : tensor<i32, #g>
  %x = tg.param 1 : tensor<4x6xf32, #g>
  %c2 = tg.const 2 : !i
  %i = tg.range 0 loop to %c2 : !i
  %p = tg.permute %x [1, 0] : tensor<4x6xf32, #g> -> tensor<6x4xf32, #g>
  %s = tg.shrink %p at [3, 1] to [2, 3] : tensor<6x4xf32, #g> -> tensor<2x3xf32, #g>
  %f = tg.flip %s [true, false] : tensor<2x3xf32, #g>
  %b = tg.bitcast %f to i32 : tensor<2x3xf32, #g> -> tensor<2x3xi32, #g>
  %pb = tg.index %b[%i, %c2] : (tensor<2x3xi32, #g>, !i, !i) -> tensor<i32, #g>
  %v = tg.load %pb : tensor<i32, #g> -> tensor<i32>
  %st = tg.store %o, %v : tensor<i32, #g>, tensor<i32>
  %e = tg.end %st over %i : !tg.void
  tg.sink %e : !tg.void
}

// CHECK-LABEL: tg.kernel @views for "cpu" {
// CHECK-NEXT:   %o = tg.param 0 : tensor<i32, #tg.place<global>>
// CHECK-NEXT:   %0 = tg.reshape %o [1] : tensor<i32, #tg.place<global>> -> tensor<1xi32, #tg.place<global>>
// CHECK-NEXT:   %x = tg.param 1 : tensor<4x6xf32, #tg.place<global>>
// CHECK-NEXT:   %1 = tg.reshape %x [24] : tensor<4x6xf32, #tg.place<global>> -> tensor<24xf32, #tg.place<global>>
// CHECK-NEXT:   %c2 = tg.const 2 : tensor<index>
// CHECK-NEXT:   %i = tg.range 0 loop to %c2 : tensor<index>
// CHECK-NEXT:   %2 = tg.const 1 : tensor<index>
// CHECK-NEXT:   %3 = tg.sub %2, %i : tensor<index>
// CHECK-NEXT:   %4 = tg.bitcast %1 to i32 : tensor<24xf32, #tg.place<global>> -> tensor<24xi32, #tg.place<global>>
// CHECK-NEXT:   %5 = tg.const 21 : tensor<index>
// CHECK-NEXT:   %6 = tg.add %3, %5 : tensor<index>
// CHECK-NEXT:   %7 = tg.index %4[%6] : (tensor<24xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
// CHECK-NEXT:   %v = tg.load %7 : tensor<i32, #tg.place<global>> -> tensor<i32>
// CHECK-NEXT:   %8 = tg.const 0 : tensor<index>
// CHECK-NEXT:   %9 = tg.index %0[%8] : (tensor<1xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
// CHECK-NEXT:   %st = tg.store %9, %v : tensor<i32, #tg.place<global>>, tensor<i32>
// CHECK-NEXT:   %e = tg.end %st over %i : !tg.void
// CHECK-NEXT:   %10 = tg.sink %e : !tg.void
// CHECK-NEXT: }

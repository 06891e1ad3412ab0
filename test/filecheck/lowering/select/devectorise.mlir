// RUN: tg-opt %s -p 'tg-select,tg-verify{level=target}' | filecheck %s

// A value with a shape is a list of scalars, and an accumulator has a cell for each.

#g = #tg.place<global>
#r = #tg.place<reg>
!i = tensor<index>
!v = tensor<2xindex>
tg.kernel @sums {
  %o = tg.param 0 : tensor<4xf32, #g>
  %x = tg.param 1 : tensor<4x8xf32, #g>
  %c0 = tg.const 0 : !i
  %c1 = tg.const 1 : !i
  %c2 = tg.const 2 : !i
  %c8 = tg.const 8 : !i
  %z = tg.const 0.0 : tensor<f32>
  %zz = tg.stack %z, %z : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  %i0 = tg.range 0 loop to %c2 : !i
  %k = tg.range 1 reduce to %c8 : !i
  %lane = tg.stack %c0, %c1 : (!i, !i) -> !v
  %i2 = tg.mul %i0, %c2 : !i
  %i = tg.add %i2, %lane : (!i, !v) -> !v
  %acc = tg.buffer 0 : tensor<2xf32, #r>
  %acc0 = tg.after %acc, %i0 : (tensor<2xf32, #r>, !i) -> tensor<2xf32, #r>
  %init = tg.store %acc0, %zz : tensor<2xf32, #r>, tensor<2xf32>
  %acc1 = tg.after %acc, %init, %k : (tensor<2xf32, #r>, !tg.void, !i) -> tensor<2xf32, #r>
  %old = tg.load %acc1 : tensor<2xf32, #r> -> tensor<2xf32>
  %px = tg.index %x[%i, %k] : (tensor<4x8xf32, #g>, !v, !i) -> tensor<2xf32, #g>
  %vx = tg.load %px : tensor<2xf32, #g> -> tensor<2xf32>
  %new = tg.add %old, %vx : tensor<2xf32>
  %st = tg.store %acc1, %new : tensor<2xf32, #r>, tensor<2xf32>
  %end = tg.end %st over %k : !tg.void
  %acc2 = tg.after %acc, %end : (tensor<2xf32, #r>, !tg.void) -> tensor<2xf32, #r>
  %sum = tg.load %acc2 : tensor<2xf32, #r> -> tensor<2xf32>
  %po = tg.index %o[%i] : (tensor<4xf32, #g>, !v) -> tensor<2xf32, #g>
  %so = tg.store %po, %sum : tensor<2xf32, #g>, tensor<2xf32>
  %eo = tg.end %so over %i0 : !tg.void
  tg.sink %eo : !tg.void
}

// CHECK-LABEL: tg.kernel @sums for "cpu" {
// CHECK-NEXT:   %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
// CHECK-NEXT:   %x = tg.param 1 : tensor<4x8xf32, #tg.place<global>>
// CHECK-NEXT:   %0 = tg.reshape %x [32] : tensor<4x8xf32, #tg.place<global>> -> tensor<32xf32, #tg.place<global>>
// CHECK-NEXT:   %c0 = tg.const 0 : tensor<index>
// CHECK-NEXT:   %c1 = tg.const 1 : tensor<index>
// CHECK-NEXT:   %c2 = tg.const 2 : tensor<index>
// CHECK-NEXT:   %c8 = tg.const 8 : tensor<index>
// CHECK-NEXT:   %z = tg.const 0.000000e+00 : tensor<f32>
// CHECK-NEXT:   %i0 = tg.range 0 loop to %c2 : tensor<index>
// CHECK-NEXT:   %k = tg.range 1 reduce to %c8 : tensor<index>
// CHECK-NEXT:   %i2 = tg.mul %i0, %c2 : tensor<index>
// CHECK-NEXT:   %1 = tg.add %i2, %c1 : tensor<index>
// CHECK-NEXT:   %acc = tg.buffer 0 : tensor<2xf32, #tg.place<reg>>
// CHECK-NEXT:   %2 = tg.after %acc, %i0 : (tensor<2xf32, #tg.place<reg>>, tensor<index>) -> tensor<2xf32, #tg.place<reg>>
// CHECK-NEXT:   %3 = tg.index %2[%c0] : (tensor<2xf32, #tg.place<reg>>, tensor<index>) -> tensor<f32, #tg.place<reg>>
// CHECK-NEXT:   %4 = tg.store %3, %z : tensor<f32, #tg.place<reg>>, tensor<f32>
// CHECK-NEXT:   %5 = tg.index %2[%c1] : (tensor<2xf32, #tg.place<reg>>, tensor<index>) -> tensor<f32, #tg.place<reg>>
// CHECK-NEXT:   %6 = tg.store %5, %z : tensor<f32, #tg.place<reg>>, tensor<f32>
// CHECK-NEXT:   %init = tg.group %4, %6
// CHECK-NEXT:   %7 = tg.after %acc, %init, %k : (tensor<2xf32, #tg.place<reg>>, !tg.void, tensor<index>) -> tensor<2xf32, #tg.place<reg>>
// CHECK-NEXT:   %8 = tg.index %7[%c0] : (tensor<2xf32, #tg.place<reg>>, tensor<index>) -> tensor<f32, #tg.place<reg>>
// CHECK-NEXT:   %9 = tg.load %8 : tensor<f32, #tg.place<reg>> -> tensor<f32>
// CHECK-NEXT:   %10 = tg.index %7[%c1] : (tensor<2xf32, #tg.place<reg>>, tensor<index>) -> tensor<f32, #tg.place<reg>>
// CHECK-NEXT:   %11 = tg.load %10 : tensor<f32, #tg.place<reg>> -> tensor<f32>
// CHECK-NEXT:   %12 = tg.mul %i2, %c8 : tensor<index>
// CHECK-NEXT:   %13 = tg.add %12, %k : tensor<index>
// CHECK-NEXT:   %14 = tg.index %0[%13] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %15 = tg.load %14 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %16 = tg.add %13, %c8 : tensor<index>
// CHECK-NEXT:   %17 = tg.index %0[%16] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %18 = tg.load %17 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %19 = tg.add %9, %15 : tensor<f32>
// CHECK-NEXT:   %20 = tg.add %11, %18 : tensor<f32>
// CHECK-NEXT:   %21 = tg.store %8, %19 : tensor<f32, #tg.place<reg>>, tensor<f32>
// CHECK-NEXT:   %22 = tg.store %10, %20 : tensor<f32, #tg.place<reg>>, tensor<f32>
// CHECK-NEXT:   %st = tg.group %21, %22
// CHECK-NEXT:   %end = tg.end %st over %k : !tg.void
// CHECK-NEXT:   %23 = tg.after %acc, %end : (tensor<2xf32, #tg.place<reg>>, !tg.void) -> tensor<2xf32, #tg.place<reg>>
// CHECK-NEXT:   %24 = tg.index %23[%c0] : (tensor<2xf32, #tg.place<reg>>, tensor<index>) -> tensor<f32, #tg.place<reg>>
// CHECK-NEXT:   %25 = tg.load %24 : tensor<f32, #tg.place<reg>> -> tensor<f32>
// CHECK-NEXT:   %26 = tg.index %23[%c1] : (tensor<2xf32, #tg.place<reg>>, tensor<index>) -> tensor<f32, #tg.place<reg>>
// CHECK-NEXT:   %27 = tg.load %26 : tensor<f32, #tg.place<reg>> -> tensor<f32>
// CHECK-NEXT:   %28 = tg.index %o[%i2] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %29 = tg.store %28, %25 : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT:   %30 = tg.index %o[%1] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %31 = tg.store %30, %27 : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT:   %so = tg.group %29, %31
// CHECK-NEXT:   %eo = tg.end %so over %i0 : !tg.void
// CHECK-NEXT:   %32 = tg.sink %eo : !tg.void
// CHECK-NEXT: }

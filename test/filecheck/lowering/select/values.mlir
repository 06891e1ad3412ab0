// RUN: tg-opt %s --verify-each=false -p 'tg-select,tg-verify{level=target}' | filecheck %s

// Movement of values picks scalars; a REDUCE over axes is a chain; WMMA of one thread is products.

#g = #tg.place<global>
tg.kernel @reduce {
  %o = tg.param 0 : tensor<2xf32, #g>
  %x = tg.param 1 : tensor<2x3xf32, #g>
  %v = tg.load %x : tensor<2x3xf32, #g> -> tensor<2x3xf32>
  %f = tg.flip %v [false, true] : tensor<2x3xf32>
  %r = tg.reduce add %f [1] : tensor<2x3xf32> -> tensor<2x1xf32>
  %w = tg.reshape %r [2] : tensor<2x1xf32> -> tensor<2xf32>
  %s = tg.store %o, %w : tensor<2xf32, #g>, tensor<2xf32>
  tg.sink %s : !tg.void
}

// CHECK-LABEL: tg.kernel @reduce for "cpu" {
// CHECK-NEXT:   %o = tg.param 0 : tensor<2xf32, #tg.place<global>>
// CHECK-NEXT:   %x = tg.param 1 : tensor<2x3xf32, #tg.place<global>>
// CHECK-NEXT:   %0 = tg.reshape %x [6] : tensor<2x3xf32, #tg.place<global>> -> tensor<6xf32, #tg.place<global>>
// CHECK-NEXT:   %1 = tg.const 0 : tensor<index>
// CHECK-NEXT:   %2 = tg.index %0[%1] : (tensor<6xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %3 = tg.load %2 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %4 = tg.const 1 : tensor<index>
// CHECK-NEXT:   %5 = tg.index %0[%4] : (tensor<6xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %6 = tg.load %5 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %7 = tg.const 2 : tensor<index>
// CHECK-NEXT:   %8 = tg.index %0[%7] : (tensor<6xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %9 = tg.load %8 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %10 = tg.const 3 : tensor<index>
// CHECK-NEXT:   %11 = tg.index %0[%10] : (tensor<6xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %12 = tg.load %11 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %13 = tg.const 4 : tensor<index>
// CHECK-NEXT:   %14 = tg.index %0[%13] : (tensor<6xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %15 = tg.load %14 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %16 = tg.const 5 : tensor<index>
// CHECK-NEXT:   %17 = tg.index %0[%16] : (tensor<6xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %18 = tg.load %17 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %19 = tg.const 0.000000e+00 : tensor<f32>
// CHECK-NEXT:   %20 = tg.add %9, %6 : tensor<f32>
// CHECK-NEXT:   %21 = tg.add %20, %3 : tensor<f32>
// CHECK-NEXT:   %22 = tg.add %18, %15 : tensor<f32>
// CHECK-NEXT:   %23 = tg.add %22, %12 : tensor<f32>
// CHECK-NEXT:   %24 = tg.add %21, %19 : tensor<f32>
// CHECK-NEXT:   %25 = tg.add %23, %19 : tensor<f32>
// CHECK-NEXT:   %26 = tg.index %o[%1] : (tensor<2xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %27 = tg.store %26, %24 : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT:   %28 = tg.index %o[%4] : (tensor<2xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %29 = tg.store %28, %25 : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT:   %s = tg.group %27, %29
// CHECK-NEXT:   %30 = tg.sink %s : !tg.void
// CHECK-NEXT: }

// An index that is not constant chooses among the elements; out of bounds it reads 0.
tg.kernel @table {
  %o = tg.param 0 : tensor<i32, #g>
  %n = tg.param 1 "n" : tensor<index>
  %a = tg.const 10 : tensor<i32>
  %b = tg.const 20 : tensor<i32>
  %t = tg.stack %a, %b : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
  %v = tg.index %t[%n] : (tensor<2xi32>, tensor<index>) -> tensor<i32>
  %s = tg.store %o, %v : tensor<i32, #g>, tensor<i32>
  tg.sink %s : !tg.void
}

// CHECK-LABEL: tg.kernel @table for "cpu" {
// CHECK-NEXT:   %o = tg.param 0 : tensor<i32, #tg.place<global>>
// CHECK-NEXT:   %0 = tg.reshape %o [1] : tensor<i32, #tg.place<global>> -> tensor<1xi32, #tg.place<global>>
// CHECK-NEXT:   %n = tg.param 1 "n" : tensor<index>
// CHECK-NEXT:   %a = tg.const 10 : tensor<i32>
// CHECK-NEXT:   %b = tg.const 20 : tensor<i32>
// CHECK-NEXT:   %1 = tg.const 0 : tensor<i32>
// CHECK-NEXT:   %2 = tg.const 0 : tensor<index>
// CHECK-NEXT:   %3 = tg.cmpeq %n, %2 : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT:   %4 = tg.where %3, %a, %1 : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT:   %5 = tg.const 1 : tensor<index>
// CHECK-NEXT:   %6 = tg.cmpeq %n, %5 : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT:   %v = tg.where %6, %b, %4 : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT:   %7 = tg.index %0[%2] : (tensor<1xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
// CHECK-NEXT:   %s = tg.store %7, %v : tensor<i32, #tg.place<global>>, tensor<i32>
// CHECK-NEXT:   %8 = tg.sink %s : !tg.void
// CHECK-NEXT: }

tg.kernel @wmma {
  %o = tg.param 0 : tensor<1x1xf32, #g>
  %a = tg.param 1 : tensor<1x2xf32, #g>
  %b = tg.param 2 : tensor<2x1xf32, #g>
  %x = tg.load %a : tensor<1x2xf32, #g> -> tensor<1x2xf32>
  %y = tg.load %b : tensor<2x1xf32, #g> -> tensor<2x1xf32>
  %z = tg.load %o : tensor<1x1xf32, #g> -> tensor<1x1xf32>
  %w = tg.wmma %x, %y, %z config <1x1x2> : (tensor<1x2xf32>, tensor<2x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %s = tg.store %o, %w : tensor<1x1xf32, #g>, tensor<1x1xf32>
  tg.sink %s : !tg.void
}

// CHECK-LABEL: tg.kernel @wmma for "cpu" {
// CHECK-NEXT:   %o = tg.param 0 : tensor<1x1xf32, #tg.place<global>>
// CHECK-NEXT:   %0 = tg.reshape %o [1] : tensor<1x1xf32, #tg.place<global>> -> tensor<1xf32, #tg.place<global>>
// CHECK-NEXT:   %a = tg.param 1 : tensor<1x2xf32, #tg.place<global>>
// CHECK-NEXT:   %1 = tg.reshape %a [2] : tensor<1x2xf32, #tg.place<global>> -> tensor<2xf32, #tg.place<global>>
// CHECK-NEXT:   %b = tg.param 2 : tensor<2x1xf32, #tg.place<global>>
// CHECK-NEXT:   %2 = tg.reshape %b [2] : tensor<2x1xf32, #tg.place<global>> -> tensor<2xf32, #tg.place<global>>
// CHECK-NEXT:   %3 = tg.const 0 : tensor<index>
// CHECK-NEXT:   %4 = tg.index %1[%3] : (tensor<2xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %5 = tg.load %4 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %6 = tg.const 1 : tensor<index>
// CHECK-NEXT:   %7 = tg.index %1[%6] : (tensor<2xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %8 = tg.load %7 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %9 = tg.index %2[%3] : (tensor<2xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %10 = tg.load %9 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %11 = tg.index %2[%6] : (tensor<2xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %12 = tg.load %11 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %13 = tg.index %0[%3] : (tensor<1xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %z = tg.load %13 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %14 = tg.mul %5, %10 : tensor<f32>
// CHECK-NEXT:   %15 = tg.add %14, %z : tensor<f32>
// CHECK-NEXT:   %16 = tg.mul %8, %12 : tensor<f32>
// CHECK-NEXT:   %w = tg.add %16, %15 : tensor<f32>
// CHECK-NEXT:   %s = tg.store %13, %w : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT:   %17 = tg.sink %s : !tg.void
// CHECK-NEXT: }

// The bytes of an f32, the lowest first.
tg.kernel @bytes {
  %o = tg.param 0 : tensor<4xui8, #g>
  %x = tg.param 1 : tensor<1xf32, #g>
  %v = tg.load %x : tensor<1xf32, #g> -> tensor<1xf32>
  %b = tg.bitcast %v to ui8 : tensor<1xf32> -> tensor<4xui8>
  %s = tg.store %o, %b : tensor<4xui8, #g>, tensor<4xui8>
  tg.sink %s : !tg.void
}

// CHECK-LABEL: tg.kernel @bytes for "cpu" {
// CHECK-NEXT:   %o = tg.param 0 : tensor<4xui8, #tg.place<global>>
// CHECK-NEXT:   %x = tg.param 1 : tensor<1xf32, #tg.place<global>>
// CHECK-NEXT:   %0 = tg.const 0 : tensor<index>
// CHECK-NEXT:   %1 = tg.index %x[%0] : (tensor<1xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %v = tg.load %1 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %2 = tg.bitcast %v to ui32 : tensor<f32> -> tensor<ui32>
// CHECK-NEXT:   %3 = tg.cast %2 to ui8 : tensor<ui32> -> tensor<ui8>
// CHECK-NEXT:   %4 = tg.const 8 : tensor<ui32>
// CHECK-NEXT:   %5 = tg.shr %2, %4 : tensor<ui32>
// CHECK-NEXT:   %6 = tg.cast %5 to ui8 : tensor<ui32> -> tensor<ui8>
// CHECK-NEXT:   %7 = tg.const 16 : tensor<ui32>
// CHECK-NEXT:   %8 = tg.shr %2, %7 : tensor<ui32>
// CHECK-NEXT:   %9 = tg.cast %8 to ui8 : tensor<ui32> -> tensor<ui8>
// CHECK-NEXT:   %10 = tg.const 24 : tensor<ui32>
// CHECK-NEXT:   %11 = tg.shr %2, %10 : tensor<ui32>
// CHECK-NEXT:   %12 = tg.cast %11 to ui8 : tensor<ui32> -> tensor<ui8>
// CHECK-NEXT:   %13 = tg.index %o[%0] : (tensor<4xui8, #tg.place<global>>, tensor<index>) -> tensor<ui8, #tg.place<global>>
// CHECK-NEXT:   %14 = tg.store %13, %3 : tensor<ui8, #tg.place<global>>, tensor<ui8>
// CHECK-NEXT:   %15 = tg.const 1 : tensor<index>
// CHECK-NEXT:   %16 = tg.index %o[%15] : (tensor<4xui8, #tg.place<global>>, tensor<index>) -> tensor<ui8, #tg.place<global>>
// CHECK-NEXT:   %17 = tg.store %16, %6 : tensor<ui8, #tg.place<global>>, tensor<ui8>
// CHECK-NEXT:   %18 = tg.const 2 : tensor<index>
// CHECK-NEXT:   %19 = tg.index %o[%18] : (tensor<4xui8, #tg.place<global>>, tensor<index>) -> tensor<ui8, #tg.place<global>>
// CHECK-NEXT:   %20 = tg.store %19, %9 : tensor<ui8, #tg.place<global>>, tensor<ui8>
// CHECK-NEXT:   %21 = tg.const 3 : tensor<index>
// CHECK-NEXT:   %22 = tg.index %o[%21] : (tensor<4xui8, #tg.place<global>>, tensor<index>) -> tensor<ui8, #tg.place<global>>
// CHECK-NEXT:   %23 = tg.store %22, %12 : tensor<ui8, #tg.place<global>>, tensor<ui8>
// CHECK-NEXT:   %s = tg.group %14, %17, %20, %23
// CHECK-NEXT:   %24 = tg.sink %s : !tg.void
// CHECK-NEXT: }

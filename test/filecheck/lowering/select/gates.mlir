// RUN: tg-opt %s -p 'tg-select,tg-verify{level=target}' | filecheck %s

// An access is gated on each side on which its index is not proven to be in range.

#g = #tg.place<global>
!i = tensor<index>
tg.kernel @gates {
  %o = tg.param 0 : tensor<8xf32, #g>
  %x = tg.param 1 : tensor<4xf32, #g>
  %p = tg.param 2 : tensor<8xi32, #g>
  %c1 = tg.const 1 : !i
  %c2 = tg.const 2 : !i
  %c5 = tg.const 5 : !i
  %c8 = tg.const 8 : !i
  %i = tg.range 0 loop to %c8 : !i

  // Proven: no gate.
  %half = tg.idiv %i, %c2 : !i
  %l0 = tg.index %x[%half] : (tensor<4xf32, #g>, !i) -> tensor<f32, #g>
  %v0 = tg.load %l0 : tensor<f32, #g> -> tensor<f32>

  // Not negative.
  %l1 = tg.index %x[%i] : (tensor<4xf32, #g>, !i) -> tensor<f32, #g>
  %v1 = tg.load %l1 : tensor<f32, #g> -> tensor<f32>

  // Anything, from a table.
  %pl = tg.index %p[%i] : (tensor<8xi32, #g>, !i) -> tensor<i32, #g>
  %any = tg.load %pl : tensor<i32, #g> -> tensor<i32>
  %l2 = tg.index %x[%any] : (tensor<4xf32, #g>, tensor<i32>) -> tensor<f32, #g>
  %v2 = tg.load %l2 : tensor<f32, #g> -> tensor<f32>

  // Proven by the gate that is there.
  %down = tg.sub %i, %c1 : !i
  %low = tg.cmpge %i, %c1 : (!i, !i) -> tensor<i1>
  %high = tg.cmplt %i, %c5 : (!i, !i) -> tensor<i1>
  %both = tg.and %low, %high : tensor<i1>
  %l3 = tg.index %x[%down] : (tensor<4xf32, #g>, !i) -> tensor<f32, #g>
  %v3 = tg.load %l3 alt %v0 gate %both : tensor<f32, #g>, tensor<f32>, tensor<i1> -> tensor<f32>

  // The gate that is there proves one side of two: out of bounds is 0, and gated off is `alt`.
  %v4 = tg.load %l3 alt %v0 gate %low : tensor<f32, #g>, tensor<f32>, tensor<i1> -> tensor<f32>

  %t0 = tg.add %v0, %v1 : tensor<f32>
  %t1 = tg.add %t0, %v2 : tensor<f32>
  %t2 = tg.add %t1, %v3 : tensor<f32>
  %t3 = tg.add %t2, %v4 : tensor<f32>
  %po = tg.index %o[%down] : (tensor<8xf32, #g>, !i) -> tensor<f32, #g>
  %s = tg.store %po, %t3 : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// CHECK-LABEL: tg.kernel @gates for "cpu" {
// CHECK-NEXT:   %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
// CHECK-NEXT:   %x = tg.param 1 : tensor<4xf32, #tg.place<global>>
// CHECK-NEXT:   %p = tg.param 2 : tensor<8xi32, #tg.place<global>>
// CHECK-NEXT:   %c1 = tg.const 1 : tensor<index>
// CHECK-NEXT:   %c2 = tg.const 2 : tensor<index>
// CHECK-NEXT:   %c5 = tg.const 5 : tensor<index>
// CHECK-NEXT:   %c8 = tg.const 8 : tensor<index>
// CHECK-NEXT:   %i = tg.range 0 loop to %c8 : tensor<index>
// CHECK-NEXT:   %half = tg.idiv %i, %c2 : tensor<index>
// CHECK-NEXT:   %0 = tg.index %x[%half] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %v0 = tg.load %0 : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT:   %1 = tg.const 4 : tensor<index>
// CHECK-NEXT:   %2 = tg.cmplt %i, %1 : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT:   %3 = tg.index %x[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %4 = tg.const 0.000000e+00 : tensor<f32>
// CHECK-NEXT:   %v1 = tg.load %3 alt %4 gate %2 : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1> -> tensor<f32>
// CHECK-NEXT:   %5 = tg.index %p[%i] : (tensor<8xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
// CHECK-NEXT:   %any = tg.load %5 : tensor<i32, #tg.place<global>> -> tensor<i32>
// CHECK-NEXT:   %6 = tg.cast %any to index : tensor<i32> -> tensor<index>
// CHECK-NEXT:   %7 = tg.const 0 : tensor<index>
// CHECK-NEXT:   %8 = tg.const -1 : tensor<index>
// CHECK-NEXT:   %9 = tg.cmplt %8, %6 : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT:   %10 = tg.cmplt %6, %1 : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT:   %11 = tg.and %9, %10 : tensor<i1>
// CHECK-NEXT:   %12 = tg.index %x[%6] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %v2 = tg.load %12 alt %4 gate %11 : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1> -> tensor<f32>
// CHECK-NEXT:   %down = tg.sub %i, %c1 : tensor<index>
// CHECK-NEXT:   %low = tg.cmplt %7, %i : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT:   %high = tg.cmplt %i, %c5 : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT:   %both = tg.and %low, %high : tensor<i1>
// CHECK-NEXT:   %13 = tg.index %x[%down] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %v3 = tg.load %13 alt %v0 gate %both : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1> -> tensor<f32>
// CHECK-NEXT:   %14 = tg.load %13 alt %4 gate %both : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1> -> tensor<f32>
// CHECK-NEXT:   %v4 = tg.where %low, %14, %v0 : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:   %t0 = tg.add %v0, %v1 : tensor<f32>
// CHECK-NEXT:   %t1 = tg.add %t0, %v2 : tensor<f32>
// CHECK-NEXT:   %t2 = tg.add %t1, %v3 : tensor<f32>
// CHECK-NEXT:   %t3 = tg.add %t2, %v4 : tensor<f32>
// CHECK-NEXT:   %15 = tg.index %o[%down] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %s = tg.store %15, %t3 gate %low : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>
// CHECK-NEXT:   %e = tg.end %s over %i : !tg.void
// CHECK-NEXT:   %16 = tg.sink %e : !tg.void
// CHECK-NEXT: }

// An atomic add has no gate: where its index is out of bounds it adds -0 to the first cell.
tg.kernel @atomic {
  %o = tg.param 0 : tensor<4xf32, #g>
  %one = tg.const 1.0 : tensor<f32>
  %c8 = tg.const 8 : !i
  %i = tg.range 0 loop to %c8 : !i
  %po = tg.index %o[%i] : (tensor<4xf32, #g>, !i) -> tensor<f32, #g>
  %s = tg.atomicadd %po, %one : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// CHECK-LABEL: tg.kernel @atomic for "cpu" {
// CHECK-NEXT:   %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
// CHECK-NEXT:   %one = tg.const 1.000000e+00 : tensor<f32>
// CHECK-NEXT:   %c8 = tg.const 8 : tensor<index>
// CHECK-NEXT:   %i = tg.range 0 loop to %c8 : tensor<index>
// CHECK-NEXT:   %0 = tg.const -0.000000e+00 : tensor<f32>
// CHECK-NEXT:   %1 = tg.const 4 : tensor<index>
// CHECK-NEXT:   %2 = tg.cmplt %i, %1 : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT:   %3 = tg.const 0 : tensor<index>
// CHECK-NEXT:   %4 = tg.where %2, %i, %3 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
// CHECK-NEXT:   %5 = tg.where %2, %one, %0 : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:   %6 = tg.index %o[%4] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %s = tg.atomicadd %6, %5 : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT:   %e = tg.end %s over %i : !tg.void
// CHECK-NEXT:   %7 = tg.sink %e : !tg.void
// CHECK-NEXT: }

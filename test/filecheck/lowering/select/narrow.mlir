// RUN: tg-opt %s -p 'tg-select,tg-verify{level=target}' | filecheck %s --check-prefixes=SOFT,CHECK
// RUN: tg-opt %s -p 'tg-select{features=f16c},tg-verify{level=target}' | filecheck %s --check-prefixes=F16C,CHECK

// bf16 is stored as its bits and computed in f32. f16 is too, unless the target converts it.

#g = #tg.place<global>
!i = tensor<index>
tg.kernel @halves {
  %o = tg.param 0 : tensor<4xf16, #g>
  %x = tg.param 1 : tensor<4xf16, #g>
  %c4 = tg.const 4 : !i
  %i = tg.range 0 loop to %c4 : !i
  %px = tg.index %x[%i] : (tensor<4xf16, #g>, !i) -> tensor<f16, #g>
  %v = tg.load %px : tensor<f16, #g> -> tensor<f16>
  %w = tg.mul %v, %v : tensor<f16>
  %po = tg.index %o[%i] : (tensor<4xf16, #g>, !i) -> tensor<f16, #g>
  %s = tg.store %po, %w : tensor<f16, #g>, tensor<f16>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// CHECK-LABEL: tg.kernel @halves
// F16C:        %1 = tg.load %0 : tensor<f16, #tg.place<global>> -> tensor<f16>
// F16C-NEXT:   %v = tg.cast %1 to f32 : tensor<f16> -> tensor<f32>
// F16C-NEXT:   %2 = tg.mul %v, %v : tensor<f32>
// F16C-NEXT:   %3 = tg.cast %2 to f16 : tensor<f32> -> tensor<f16>
// F16C-NEXT:   %4 = tg.index
// F16C-NEXT:   %s = tg.store %4, %3 : tensor<f16, #tg.place<global>>, tensor<f16>
// SOFT:        %0 = tg.bitcast %o to ui16 : tensor<4xf16, #tg.place<global>> -> tensor<4xui16, #tg.place<global>>
// SOFT:        %3 = tg.load %2 : tensor<ui16, #tg.place<global>> -> tensor<ui16>
// SOFT-NOT:    f16
// SOFT:        %25 = tg.mul %v, %v : tensor<f32>
// SOFT:        %54 = tg.cast %53 to ui16 : tensor<ui32> -> tensor<ui16>
// SOFT:        %s = tg.store %55, %54 : tensor<ui16, #tg.place<global>>, tensor<ui16>

// What is not computed with is not converted.
tg.kernel @choose {
  %o = tg.param 0 : tensor<4xbf16, #g>
  %x = tg.param 1 : tensor<4xbf16, #g>
  %y = tg.param 2 : tensor<4xbf16, #g>
  %c2 = tg.const 2 : !i
  %c4 = tg.const 4 : !i
  %i = tg.range 0 loop to %c4 : !i
  %px = tg.index %x[%i] : (tensor<4xbf16, #g>, !i) -> tensor<bf16, #g>
  %py = tg.index %y[%i] : (tensor<4xbf16, #g>, !i) -> tensor<bf16, #g>
  %v = tg.load %px : tensor<bf16, #g> -> tensor<bf16>
  %w = tg.load %py : tensor<bf16, #g> -> tensor<bf16>
  %first = tg.cmplt %i, %c2 : (!i, !i) -> tensor<i1>
  %r = tg.where %first, %v, %w : (tensor<i1>, tensor<bf16>, tensor<bf16>) -> tensor<bf16>
  %po = tg.index %o[%i] : (tensor<4xbf16, #g>, !i) -> tensor<bf16, #g>
  %s = tg.store %po, %r : tensor<bf16, #g>, tensor<bf16>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// CHECK-LABEL: tg.kernel @choose for "cpu" {
// CHECK-NEXT:   %o = tg.param 0 : tensor<4xbf16, #tg.place<global>>
// CHECK-NEXT:   %0 = tg.bitcast %o to ui16 : tensor<4xbf16, #tg.place<global>> -> tensor<4xui16, #tg.place<global>>
// CHECK-NEXT:   %x = tg.param 1 : tensor<4xbf16, #tg.place<global>>
// CHECK-NEXT:   %1 = tg.bitcast %x to ui16 : tensor<4xbf16, #tg.place<global>> -> tensor<4xui16, #tg.place<global>>
// CHECK-NEXT:   %y = tg.param 2 : tensor<4xbf16, #tg.place<global>>
// CHECK-NEXT:   %2 = tg.bitcast %y to ui16 : tensor<4xbf16, #tg.place<global>> -> tensor<4xui16, #tg.place<global>>
// CHECK-NEXT:   %c2 = tg.const 2 : tensor<index>
// CHECK-NEXT:   %c4 = tg.const 4 : tensor<index>
// CHECK-NEXT:   %i = tg.range 0 loop to %c4 : tensor<index>
// CHECK-NEXT:   %3 = tg.index %1[%i] : (tensor<4xui16, #tg.place<global>>, tensor<index>) -> tensor<ui16, #tg.place<global>>
// CHECK-NEXT:   %4 = tg.load %3 : tensor<ui16, #tg.place<global>> -> tensor<ui16>
// CHECK-NEXT:   %5 = tg.index %2[%i] : (tensor<4xui16, #tg.place<global>>, tensor<index>) -> tensor<ui16, #tg.place<global>>
// CHECK-NEXT:   %6 = tg.load %5 : tensor<ui16, #tg.place<global>> -> tensor<ui16>
// CHECK-NEXT:   %first = tg.cmplt %i, %c2 : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT:   %7 = tg.where %first, %4, %6 : (tensor<i1>, tensor<ui16>, tensor<ui16>) -> tensor<ui16>
// CHECK-NEXT:   %8 = tg.index %0[%i] : (tensor<4xui16, #tg.place<global>>, tensor<index>) -> tensor<ui16, #tg.place<global>>
// CHECK-NEXT:   %s = tg.store %8, %7 : tensor<ui16, #tg.place<global>>, tensor<ui16>
// CHECK-NEXT:   %e = tg.end %s over %i : !tg.void
// CHECK-NEXT:   %9 = tg.sink %e : !tg.void
// CHECK-NEXT: }

tg.kernel @to_f32 {
  %o = tg.param 0 : tensor<4xf32, #g>
  %x = tg.param 1 : tensor<4xbf16, #g>
  %c4 = tg.const 4 : !i
  %i = tg.range 0 loop to %c4 : !i
  %px = tg.index %x[%i] : (tensor<4xbf16, #g>, !i) -> tensor<bf16, #g>
  %v = tg.load %px : tensor<bf16, #g> -> tensor<bf16>
  %w = tg.cast %v to f32 : tensor<bf16> -> tensor<f32>
  %po = tg.index %o[%i] : (tensor<4xf32, #g>, !i) -> tensor<f32, #g>
  %s = tg.store %po, %w : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// CHECK-LABEL: tg.kernel @to_f32 for "cpu" {
// CHECK-NEXT:   %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
// CHECK-NEXT:   %x = tg.param 1 : tensor<4xbf16, #tg.place<global>>
// CHECK-NEXT:   %0 = tg.bitcast %x to ui16 : tensor<4xbf16, #tg.place<global>> -> tensor<4xui16, #tg.place<global>>
// CHECK-NEXT:   %c4 = tg.const 4 : tensor<index>
// CHECK-NEXT:   %i = tg.range 0 loop to %c4 : tensor<index>
// CHECK-NEXT:   %1 = tg.index %0[%i] : (tensor<4xui16, #tg.place<global>>, tensor<index>) -> tensor<ui16, #tg.place<global>>
// CHECK-NEXT:   %2 = tg.load %1 : tensor<ui16, #tg.place<global>> -> tensor<ui16>
// CHECK-NEXT:   %3 = tg.cast %2 to ui32 : tensor<ui16> -> tensor<ui32>
// CHECK-NEXT:   %4 = tg.const 16 : tensor<ui32>
// CHECK-NEXT:   %5 = tg.shl %3, %4 : tensor<ui32>
// CHECK-NEXT:   %v = tg.bitcast %5 to f32 : tensor<ui32> -> tensor<f32>
// CHECK-NEXT:   %6 = tg.index %o[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT:   %s = tg.store %6, %v : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT:   %e = tg.end %s over %i : !tg.void
// CHECK-NEXT:   %7 = tg.sink %e : !tg.void
// CHECK-NEXT: }

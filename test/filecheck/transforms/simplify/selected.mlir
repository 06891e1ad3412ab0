// RUN: tg-opt %s -p 'tg-simplify' | filecheck %s --check-prefix=KERNELS
// RUN: tg-opt %s -p 'tg-optimize,tg-expand,tg-select,tg-simplify,tg-linearize,tg-simplify' | filecheck %s --check-prefix=TARGET
// RUN: xdsl-opt %s -p 'tg-optimize,tg-expand,tg-select,tg-simplify,tg-linearize,tg-simplify' | filecheck %s --check-prefix=TARGET
// RUN: tg-opt %s -p 'tg-optimize,tg-expand,tg-select' | tg-opt -p 'tg-simplify,tg-linearize' | filecheck %s --check-prefix=TARGET
// RUN: tg-opt %s -p 'tg-optimize,tg-expand,tg-select' | tg-opt -p 'tg-select,tg-simplify' | filecheck %s --check-prefix=SELECTED
// RUN: not tg-opt %s -p 'tg-optimize,tg-expand,tg-select,tg-padto{axis=0 multiple=6}' 2>&1 | filecheck %s --check-prefix=LATE

// The value of %v matters only where %in holds, which says that the gate is true. A kernel may do without it: what is
// out of bounds is 0. Once select has been, memory is read wherever a LOAD is, so that its gate stays: of an index that
// is data both bounds.

// KERNELS: tg.load %{{.*}} : tensor<f32, #tg.place<global>> -> tensor<f32>

// TARGET:      %gate = tg.cmplt %{{.*}}, %nv
// TARGET-NEXT: %[[LESS:.*]] = tg.cmplt %nv, %{{.*}}
// TARGET-NEXT: %[[IN:.*]] = tg.and %gate, %[[LESS]]
// TARGET:      tg.load %{{.*}} alt %{{.*}} gate %[[IN]]

// SELECTED: tg.kernel @gather for "cpu" {

// LATE: selected.mlir:{{.*}}: @gather is selected for cpu already: OptOps come before tg-select

#g = #tg.place<global>
tg.kernel @gather {
  %o = tg.param 0 : tensor<8xf32, #g>
  %x = tg.param 1 : tensor<5xf32, #g>
  %n = tg.param 2 : tensor<8xindex, #g>
  %c8 = tg.const 8 : tensor<index>
  %i = tg.range 0 loop to %c8 : tensor<index>
  %nl = tg.index %n[%i] : (tensor<8xindex, #g>, tensor<index>) -> tensor<index, #g>
  %nv = tg.load %nl : tensor<index, #g> -> tensor<index>
  %c0 = tg.const 0 : tensor<index>
  %c2 = tg.const 2 : tensor<index>
  %zero = tg.const 0.0 : tensor<f32>
  %gate = tg.cmpge %nv, %c0 : (tensor<index>, tensor<index>) -> tensor<i1>
  %xl = tg.index %x[%nv] : (tensor<5xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %xv = tg.load %xl alt %zero gate %gate : tensor<f32, #g>, tensor<f32>, tensor<i1> -> tensor<f32>
  %one = tg.const 1.0 : tensor<f32>
  %in = tg.cmpge %nv, %c2 : (tensor<index>, tensor<index>) -> tensor<i1>
  %most = tg.max %xv, %one : tensor<f32>
  %v = tg.where %in, %most, %zero : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %ol = tg.index %o[%i] : (tensor<8xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %v : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// RUN: tg-opt %s -p 'tg-optimize{mode=heuristic features=avx512f threads=2},tg-verify{level=kernels}' | filecheck %s --check-prefix=WIDE
// RUN: tg-opt %s -p 'tg-optimize{mode=heuristic features=sse2 threads=1},tg-verify{level=kernels}' | filecheck %s --check-prefix=NARROW
// RUN: tg-opt %s -p 'tg-optimize{mode=heuristic threads=1},tg-verify{level=kernels}' | filecheck %s --check-prefix=SCALAR
// RUN: not tg-opt %s -p 'tg-optimize{mode=heuristic threads=0}' 2>&1 | filecheck %s --check-prefix=THREADS
// RUN: not tg-opt %s -p 'tg-optimize{mode=heuristic l2=-1}' 2>&1 | filecheck %s --check-prefix=L2

// The machine model decides: vectors along the columns, a tile of rows in registers, and a reduction of 8 steps is
// written out.

// WIDE: %i = tg.range 0 upcast to %c16
// WIDE: %{{.*}} = tg.range 1 global to %{{.*}}
// WIDE: %{{.*}} = tg.range 3 upcast to %{{.*}}
// WIDE: %k = tg.range 2 unroll to %c8
// WIDE: %{{.*}} = tg.sink %e opts [#tg.opt<split 2, 8, unroll>, #tg.opt<split 0, 16, upcast>, #tg.opt<split 1, 16, upcast>]

// NARROW: %e = tg.end %s over %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !tg.void
// NARROW: %{{.*}} = tg.sink %e opts [#tg.opt<split 2, 8, unroll>, #tg.opt<split 0, 8, upcast>, #tg.opt<split 1, 4, upcast>]

// SCALAR: %e = tg.end %s over %j, %i : !tg.void
// SCALAR: %{{.*}} = tg.sink %e opts []

// THREADS: error: pass tg-optimize: threads is 0, not a positive number
// L2: error: pass tg-optimize: l2 is -1, not a positive number

#g = #tg.place<global>
module attributes {tg.target = #tg.target<"cpu", features = []>} {
tg.kernel @gemm {
  %o = tg.param 0 : tensor<16x32xf32, #g>
  %a = tg.param 1 : tensor<16x8xf32, #g>
  %b = tg.param 2 : tensor<8x32xf32, #g>
  %c16 = tg.const 16 : tensor<index>
  %c32 = tg.const 32 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %i = tg.range 0 loop to %c16 : tensor<index>
  %j = tg.range 1 loop to %c32 : tensor<index>
  %k = tg.range 2 reduce to %c8 : tensor<index>
  %al = tg.index %a[%i, %k] : (tensor<16x8xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %av = tg.load %al : tensor<f32, #g> -> tensor<f32>
  %bl = tg.index %b[%k, %j] : (tensor<8x32xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %bv = tg.load %bl : tensor<f32, #g> -> tensor<f32>
  %m = tg.mul %av, %bv : tensor<f32>
  %r = tg.reduce add %m [] over %k : tensor<f32> -> tensor<f32>
  %ol = tg.index %o[%i, %j] : (tensor<16x32xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %r : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e : !tg.void
}
}

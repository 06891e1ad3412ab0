// RUN: tg-opt %s -p 'tg-order{axes=1,0},tg-verify{level=kernels}' | filecheck %s --check-prefix=NESTED
// RUN: tg-opt %s -p 'tg-split{axis=2 factor=4 target=reduce},tg-order{axes=3,2},tg-verify{level=kernels}' | filecheck %s --check-prefix=REDUCE
// RUN: not tg-opt %s -p 'tg-order{axes=0,2}' 2>&1 | filecheck %s --check-prefix=APART
// RUN: not tg-opt %s -p 'tg-order{axes=0,0}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: tg-opt %s -p 'tg-split{axis=2 factor=4 target=reduce},tg-order{axes=2,1},tg-verify{level=kernels}' | filecheck %s --check-prefix=AROUND
// RUN: tg-opt %s -p 'tg-order{axes=2,0,1},tg-verify{level=kernels}' | filecheck %s --check-prefix=WHOLE
// RUN: not tg-opt %s -p 'tg-split{axis=0 factor=4 target=local},tg-order{axes=2,1}' 2>&1 | filecheck %s --check-prefix=SHARED
// RUN: not tg-opt %s -p 'tg-order{axes=2,0}' 2>&1 | filecheck %s --check-prefix=OUTER
// RUN: not tg-opt %s -p 'tg-split{axis=2 factor=8 target=unroll},tg-order{axes=2,1}' 2>&1 | filecheck %s --check-prefix=UNROLLED

// Ranges that are closed together nest like this, the outermost first.

// NESTED: %e = tg.end %s over %i, %j : !tg.void
// NESTED: %{{.*}} = tg.sink %e opts [#tg.opt<order 1, 0>]

// REDUCE: %r = tg.reduce add %m [] over %{{.*}}, %{{.*}}
// REDUCE: %{{.*}} = tg.sink %e opts [#tg.opt<split 2, 4, reduce>, #tg.opt<order 3, 2>]

// APART: error: pass tg-order: order 0, 2: range 2 is not closed with 0

// TWICE: error: pass tg-order: order 0, 0: a range is named twice

// The loop of a REDUCE goes around loops that it is in: there is a partial result for each of their
// iterations then, which each step adds to.

// AROUND: %[[I:.*]] = tg.range 0 global to
// AROUND: %j = tg.range 5 global to
// AROUND: %[[K:.*]] = tg.range 2 reduce to
// AROUND: %[[IN:.*]] = tg.range 3 reduce to
// AROUND: %[[ACC:.*]] = tg.buffer {{.*}} : tensor<32xf32, #tg.place<local>>
// AROUND: %[[J0:.*]] = tg.range 4 loop to
// AROUND: %[[START:.*]] = tg.after %[[ACC]], %[[I]] :
// AROUND: %[[C0:.*]] = tg.index %[[START]][%[[J0]]]
// AROUND: %[[S0:.*]] = tg.store %[[C0]], %{{.*}}
// AROUND: %[[INIT:.*]] = tg.end %[[S0]] over %[[J0]]
// AROUND: %[[J1:.*]] = tg.range 1 loop to
// AROUND: %[[PART:.*]] = tg.reduce add %{{.*}} [] over %[[IN]] :
// AROUND: %[[NOW:.*]] = tg.after %[[ACC]], %[[INIT]], %[[K]] :
// AROUND: %[[C1:.*]] = tg.index %[[NOW]][%[[J1]]]
// AROUND: %[[OLD:.*]] = tg.load %[[C1]]
// AROUND: %[[NEW:.*]] = tg.add %[[OLD]], %[[PART]]
// AROUND: %[[S1:.*]] = tg.store %[[C1]], %[[NEW]]
// AROUND: %[[DONE:.*]] = tg.end %[[S1]] over %[[J1]], %[[K]]
// AROUND: %[[LAST:.*]] = tg.after %[[ACC]], %[[DONE]]
// AROUND: %[[TOTAL:.*]] = tg.load
// AROUND: tg.store %{{.*}}, %[[TOTAL]]
// AROUND: tg.end %{{.*}} over %j, %i
// AROUND: opts [#tg.opt<split 2, 4, reduce>, #tg.opt<order 2, 1>]

// Where no loop of the REDUCE is left inside, each step adds one term.

// WHOLE: %[[ACC:.*]] = tg.buffer {{.*}} : tensor<16x32xf32, #tg.place<local>>
// WHOLE: %[[TERM:.*]] = tg.mul %{{.*}} : tensor<f32>
// WHOLE: %[[OLD:.*]] = tg.load
// WHOLE: tg.add %[[OLD]], %[[TERM]]

// SHARED: error: pass tg-order: order 2, 1: the threads of a workgroup would share the partial results

// OUTER: error: pass tg-order: order 2, 0: the ranges after 2 are not the inner loops of a nest, in order

// UNROLLED: error: pass tg-order: order 2, 1: range 2 is unroll, and not of a REDUCE

#g = #tg.place<global>
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

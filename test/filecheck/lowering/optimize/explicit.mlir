// RUN: tg-opt %s -p 'tg-optimize{mode=explicit opts="split 0, 4, upcast","order 1, 0"},tg-verify{level=kernels}' | filecheck %s --check-prefix=OPTS
// RUN: tg-opt %s -p 'tg-optimize{mode=explicit opts="swap 0, 1"},tg-verify{level=kernels}' | filecheck %s --check-prefix=SWAP
// RUN: not tg-opt %s -p 'tg-optimize{mode=explicit opts="twist 0"}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not tg-opt %s -p 'tg-optimize{mode=explicit opts="split 0, 3, upcast"}' 2>&1 | filecheck %s --check-prefix=ILLEGAL
// RUN: not tg-opt %s -p 'tg-optimize{mode=heuristic opts="order 1, 0"}' 2>&1 | filecheck %s --check-prefix=MODE

// mode=explicit applies OptOps from left to right.

// OPTS: %{{.*}} = tg.range 0 global to %{{.*}}
// OPTS: %{{.*}} = tg.range 3 upcast to %{{.*}}
// OPTS: %j = tg.range 1 global to %c32
// OPTS: %k = tg.range 2 reduce to %c8
// OPTS: %e = tg.end %s over %{{.*}}, %{{.*}}, %j : !tg.void
// OPTS: %{{.*}} = tg.sink %e opts [#tg.opt<split 0, 4, upcast>, #tg.opt<order 1, 0>]

// SWAP: %e = tg.end %s over %i, %j : !tg.void
// SWAP: tg.sink %e opts [#tg.opt<swap 0, 1>]

// UNKNOWN: error: pass tg-optimize: 'twist 0' is no OptOp: there are tc, split, padto, swap, order, nolocals, stage, pipeline, merge

// ILLEGAL: error: pass tg-optimize: kernel @gemm: split 0, 3, upcast: range 0 to 16 is not made of parts of 3

// MODE: error: pass tg-optimize: mode 'heuristic' takes no opts: mode=explicit does

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

// RUN: tg-opt %s -p 'tg-order{axes=1,0},tg-split{axis=1 factor=16 target=upcast},tg-stage{slot=2 axis=1},tg-verify{level=kernels}' | filecheck %s --check-prefix=PACK
// RUN: not tg-opt %s -p 'tg-stage{slot=3 axis=0}' 2>&1 | filecheck %s --check-prefix=NOTHING
// RUN: tg-opt %s -p 'tg-stage{slot=2 axis=0},tg-verify{level=kernels}' | filecheck %s --check-prefix=AGAIN
// RUN: not tg-opt %s -p 'tg-stage{slot=2 axis=2}' 2>&1 | filecheck %s --check-prefix=LOOP

// STAGE: what a loop loads of a parameter is copied into a buffer first.

// PACK: %av = tg.load %al
// PACK: %{{.*}} = tg.buffer 0
// PACK: %{{.*}} = tg.range 4 loop to %{{.*}}
// PACK: %{{.*}} = tg.range 5 upcast to %{{.*}}
// PACK: %bv = tg.load %bl_1
// PACK: %{{.*}} = tg.after %{{.*}}, %{{.*}}
// PACK: %{{.*}} = tg.store %{{.*}}, %bv
// PACK: %{{.*}} = tg.end %{{.*}} over %{{.*}}, %{{.*}} : !tg.void
// PACK: %{{.*}} = tg.after %{{.*}}, %{{.*}}
// PACK: %bv_1 = tg.load %{{.*}}
// PACK: %s = tg.store %ol, %r
// PACK: %e = tg.end %s over %i, %{{.*}}, %{{.*}} : !tg.void
// PACK: %{{.*}} = tg.sink %e opts [#tg.opt<order 1, 0>, #tg.opt<split 1, 16, upcast>, #tg.opt<stage 2, 1, local>]

// A loop inside loads the same in each iteration of this one.

// AGAIN: %{{.*}} = tg.buffer 0 : tensor<32x8xf32, #tg.place<local>>
// AGAIN: %{{.*}} = tg.after %{{.*}}, %i
// AGAIN: %e = tg.end %s over %j, %i : !tg.void

// NOTHING: error: pass tg-stage: stage 3, 0, local: nothing of parameter 3 is loaded in the loop of range 0

// LOOP: error: pass tg-stage: stage 2, 2, local: range 2 is no loop that an END closes

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

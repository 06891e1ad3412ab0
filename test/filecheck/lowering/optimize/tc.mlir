// RUN: tg-opt %s -p 'tg-tc{kernel=product axis=2},tg-verify{level=kernels}' | filecheck %s
// RUN: tg-opt %s -p 'tg-tc{kernel=product axis=2 mode=2},tg-verify{level=kernels}' | filecheck %s --check-prefix=SHAPE
// RUN: tg-opt %s -p 'tg-tc{kernel=product axis=2},tg-expand,tg-verify{level=tiles}' | filecheck %s --check-prefix=TILES
// RUN: not tg-opt %s -p 'tg-tc{kernel=product axis=0}' 2>&1 | filecheck %s --check-prefix=LOOP
// RUN: not tg-opt %s -p 'tg-tc{kernel=product axis=2 index=99}' 2>&1 | filecheck %s --check-prefix=INDEX
// RUN: not tg-opt %s -p 'tg-tc{kernel=product axis=2 index=1}' 2>&1 | filecheck %s --check-prefix=DTYPE
// RUN: not tg-opt %s -p 'tg-split{kernel=product axis=0 factor=2 target=upcast},tg-tc{kernel=product axis=2}' 2>&1 | filecheck %s --check-prefix=FIRST
// RUN: not tg-opt %s -p 'tg-tc{kernel=product axis=2},tg-split{kernel=product axis=3 factor=2 target=warp}' 2>&1 | filecheck %s --check-prefix=LANES
// RUN: not tg-opt %s -p 'tg-tc{kernel=product axis=2},tg-order{kernel=product axes=3,0}' 2>&1 | filecheck %s --check-prefix=ORDER
// RUN: not tg-opt %s -p 'tg-tc{kernel=product axis=2},tg-split{kernel=product axis=2 factor=2 target=group_reduce}' 2>&1 | filecheck %s --check-prefix=GROUP
// RUN: not tg-opt %s -p 'tg-tc{kernel=short axis=2}' 2>&1 | filecheck %s --check-prefix=SHORT
// RUN: not tg-opt %s -p 'tg-tc{kernel=computed axis=2}' 2>&1 | filecheck %s --check-prefix=COMPUTED
// RUN: tg-opt %s -p 'tg-tc{kernel=computed axis=2 level=1}' | filecheck %s --check-prefix=CASTS
// RUN: not tg-opt %s -p 'tg-tc{kernel=sum axis=2}' 2>&1 | filecheck %s --check-prefix=SUM
// RUN: not tg-opt %s -p 'tg-tc{kernel=greatest axis=2}' 2>&1 | filecheck %s --check-prefix=MAX
// RUN: not tg-opt %s -p 'tg-tc{kernel=vector axis=2}' 2>&1 | filecheck %s --check-prefix=VECTOR
// RUN: sed 's/nvidia:sm_80/opencl/' %s | not tg-opt - -p 'tg-tc{kernel=product axis=2}' 2>&1 | filecheck %s --check-prefix=NONE

// Rows, columns and steps are tiles of 16x8x16, and the REDUCE names the ranges of the fragment.
// CHECK-LABEL: tg.kernel @product
// CHECK-DAG: [[LANE:%[0-9a-z]+]] = tg.range 3 warp to
// CHECK-DAG: [[M3:%[0-9a-z]+]] = tg.range 4 upcast to
// CHECK-DAG: [[N0:%[0-9a-z]+]] = tg.range 5 upcast to
// CHECK-DAG: [[K:%[0-9a-z]+]] = tg.range 6 unroll to
// CHECK-DAG: [[ROWS:%[0-9a-z]+]] = tg.range 0 global to
// CHECK-DAG: [[COLUMNS:%[0-9a-z]+]] = tg.range 1 global to
// CHECK-DAG: [[STEPS:%[0-9a-z]+]] = tg.range 2 reduce to
// CHECK: tg.reduce add {{%[0-9a-z]+}} [] over [[STEPS]], [[K]] wmma <16x8x16, threads = 32, {{.*}}> on [4, 5, 6]
// CHECK: tg.end {{%[0-9a-z]+}} over [[N0]], [[M3]], [[LANE]], [[COLUMNS]], [[ROWS]]
// CHECK: opts [#tg.opt<tc 2, -1, 0, 1>]

// SHAPE-LABEL: tg.kernel @product
// SHAPE: tg.reduce add {{%[0-9a-z]+}} [] over {{%[0-9a-z]+}}, {{%[0-9a-z]+}} : tensor<f32>

// A lane has a fragment of 8, 4 and 4 elements.
// TILES-LABEL: tg.kernel @product
// TILES: %acc = tg.buffer 0 : tensor<4xf32, #tg.place<reg>>
// TILES: tg.wmma {{.*}} : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>

// LOOP: tc 0, -1, 0, 1: range 0 is global, and not of a REDUCE
// INDEX: there is no instruction 99; nvidia:sm_80 has 27
// DTYPE: no instruction multiplies f16 and adds f32; there are: mma.m16n8k16.bf16
// FIRST: TC is the first OptOp of a kernel
// LANES: split 3, 2, warp: range 3 is of the fragments of a WMMA
// ORDER: the lanes of a warp are the innermost loop
// GROUP: the lanes of a warp share the REDUCE over range 2
// SHORT: 20x16x32 is not made of tiles of mma.m16n8k16.f16; level 2 pads
// COMPUTED: a factor is computed, which level 1 allows
// CASTS: tg.reduce add {{.*}} wmma
// SUM: the REDUCE over range 2 is not of products of one dtype
// MAX: the REDUCE over range 2 is max, and not add
// VECTOR: each factor needs a loop of results that the other lacks
// NONE: the target opencl has no matrix instructions

builtin.module attributes {tg.target = #tg.target<"nvidia:sm_80">} {
  tg.kernel @product {
    %out = tg.param 0 : tensor<32x16xf32, #tg.place<global>>
    %x = tg.param 1 : tensor<32x32xf16, #tg.place<global>>
    %y = tg.param 2 : tensor<32x16xf16, #tg.place<global>>
    %m = tg.const 32 : tensor<index>
    %n = tg.const 16 : tensor<index>
    %d = tg.const 32 : tensor<index>
    %z = tg.const 0 : tensor<index>
    %i = tg.range 0 loop to %m : tensor<index>
    %j = tg.range 1 loop to %n : tensor<index>
    %k = tg.range 2 reduce to %d : tensor<index>
    %xp = tg.index %x[%i, %k] : (tensor<32x32xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %a = tg.load %xp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %yp = tg.index %y[%k, %j] : (tensor<32x16xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %b = tg.load %yp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %p = tg.mul %a, %b : tensor<f16>
    %w = tg.cast %p to f32 : tensor<f16> -> tensor<f32>
    %r = tg.reduce add %w [] over %k : tensor<f32> -> tensor<f32>
    %op = tg.index %out[%i, %j] : (tensor<32x16xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %s = tg.store %op, %r : tensor<f32, #tg.place<global>>, tensor<f32>
    %e = tg.end %s over %j, %i : !tg.void
    %sink = tg.sink %e : !tg.void
  }
  tg.kernel @short {
    %out = tg.param 0 : tensor<20x16xf32, #tg.place<global>>
    %x = tg.param 1 : tensor<20x32xf16, #tg.place<global>>
    %y = tg.param 2 : tensor<32x16xf16, #tg.place<global>>
    %m = tg.const 20 : tensor<index>
    %n = tg.const 16 : tensor<index>
    %d = tg.const 32 : tensor<index>
    %z = tg.const 0 : tensor<index>
    %i = tg.range 0 loop to %m : tensor<index>
    %j = tg.range 1 loop to %n : tensor<index>
    %k = tg.range 2 reduce to %d : tensor<index>
    %xp = tg.index %x[%i, %k] : (tensor<20x32xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %a = tg.load %xp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %yp = tg.index %y[%k, %j] : (tensor<32x16xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %b = tg.load %yp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %p = tg.mul %a, %b : tensor<f16>
    %w = tg.cast %p to f32 : tensor<f16> -> tensor<f32>
    %r = tg.reduce add %w [] over %k : tensor<f32> -> tensor<f32>
    %op = tg.index %out[%i, %j] : (tensor<20x16xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %s = tg.store %op, %r : tensor<f32, #tg.place<global>>, tensor<f32>
    %e = tg.end %s over %j, %i : !tg.void
    %sink = tg.sink %e : !tg.void
  }
  tg.kernel @computed {
    %out = tg.param 0 : tensor<32x16xf32, #tg.place<global>>
    %x = tg.param 1 : tensor<32x32xf16, #tg.place<global>>
    %y = tg.param 2 : tensor<32x16xf16, #tg.place<global>>
    %m = tg.const 32 : tensor<index>
    %n = tg.const 16 : tensor<index>
    %d = tg.const 32 : tensor<index>
    %z = tg.const 0 : tensor<index>
    %i = tg.range 0 loop to %m : tensor<index>
    %j = tg.range 1 loop to %n : tensor<index>
    %k = tg.range 2 reduce to %d : tensor<index>
    %xp = tg.index %x[%i, %k] : (tensor<32x32xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %a = tg.load %xp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %yp = tg.index %y[%k, %j] : (tensor<32x16xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %b = tg.load %yp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %a2 = tg.neg %a : tensor<f16>
    %p = tg.mul %a2, %b : tensor<f16>
    %w = tg.cast %p to f32 : tensor<f16> -> tensor<f32>
    %r = tg.reduce add %w [] over %k : tensor<f32> -> tensor<f32>
    %op = tg.index %out[%i, %j] : (tensor<32x16xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %s = tg.store %op, %r : tensor<f32, #tg.place<global>>, tensor<f32>
    %e = tg.end %s over %j, %i : !tg.void
    %sink = tg.sink %e : !tg.void
  }
  tg.kernel @sum {
    %out = tg.param 0 : tensor<32x16xf32, #tg.place<global>>
    %x = tg.param 1 : tensor<32x32xf16, #tg.place<global>>
    %y = tg.param 2 : tensor<32x16xf16, #tg.place<global>>
    %m = tg.const 32 : tensor<index>
    %n = tg.const 16 : tensor<index>
    %d = tg.const 32 : tensor<index>
    %z = tg.const 0 : tensor<index>
    %i = tg.range 0 loop to %m : tensor<index>
    %j = tg.range 1 loop to %n : tensor<index>
    %k = tg.range 2 reduce to %d : tensor<index>
    %xp = tg.index %x[%i, %k] : (tensor<32x32xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %a = tg.load %xp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %yp = tg.index %y[%k, %j] : (tensor<32x16xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %b = tg.load %yp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %p = tg.add %a, %b : tensor<f16>
    %w = tg.cast %p to f32 : tensor<f16> -> tensor<f32>
    %r = tg.reduce add %w [] over %k : tensor<f32> -> tensor<f32>
    %op = tg.index %out[%i, %j] : (tensor<32x16xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %s = tg.store %op, %r : tensor<f32, #tg.place<global>>, tensor<f32>
    %e = tg.end %s over %j, %i : !tg.void
    %sink = tg.sink %e : !tg.void
  }
  tg.kernel @greatest {
    %out = tg.param 0 : tensor<32x16xf32, #tg.place<global>>
    %x = tg.param 1 : tensor<32x32xf16, #tg.place<global>>
    %y = tg.param 2 : tensor<32x16xf16, #tg.place<global>>
    %m = tg.const 32 : tensor<index>
    %n = tg.const 16 : tensor<index>
    %d = tg.const 32 : tensor<index>
    %z = tg.const 0 : tensor<index>
    %i = tg.range 0 loop to %m : tensor<index>
    %j = tg.range 1 loop to %n : tensor<index>
    %k = tg.range 2 reduce to %d : tensor<index>
    %xp = tg.index %x[%i, %k] : (tensor<32x32xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %a = tg.load %xp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %yp = tg.index %y[%k, %j] : (tensor<32x16xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %b = tg.load %yp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %p = tg.mul %a, %b : tensor<f16>
    %w = tg.cast %p to f32 : tensor<f16> -> tensor<f32>
    %r = tg.reduce max %w [] over %k : tensor<f32> -> tensor<f32>
    %op = tg.index %out[%i, %j] : (tensor<32x16xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %s = tg.store %op, %r : tensor<f32, #tg.place<global>>, tensor<f32>
    %e = tg.end %s over %j, %i : !tg.void
    %sink = tg.sink %e : !tg.void
  }
  tg.kernel @vector {
    %out = tg.param 0 : tensor<32x16xf32, #tg.place<global>>
    %x = tg.param 1 : tensor<32x32xf16, #tg.place<global>>
    %y = tg.param 2 : tensor<32x16xf16, #tg.place<global>>
    %m = tg.const 32 : tensor<index>
    %n = tg.const 16 : tensor<index>
    %d = tg.const 32 : tensor<index>
    %z = tg.const 0 : tensor<index>
    %i = tg.range 0 loop to %m : tensor<index>
    %j = tg.range 1 loop to %n : tensor<index>
    %k = tg.range 2 reduce to %d : tensor<index>
    %xp = tg.index %x[%i, %k] : (tensor<32x32xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %a = tg.load %xp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %yp = tg.index %y[%k, %z] : (tensor<32x16xf16, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f16, #tg.place<global>>
    %b = tg.load %yp : tensor<f16, #tg.place<global>> -> tensor<f16>
    %p = tg.mul %a, %b : tensor<f16>
    %w = tg.cast %p to f32 : tensor<f16> -> tensor<f32>
    %r = tg.reduce add %w [] over %k : tensor<f32> -> tensor<f32>
    %op = tg.index %out[%i, %j] : (tensor<32x16xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
    %s = tg.store %op, %r : tensor<f32, #tg.place<global>>, tensor<f32>
    %e = tg.end %s over %j, %i : !tg.void
    %sink = tg.sink %e : !tg.void
  }
}

// RUN: tg-opt %s -p 'tg-merge{first=1 second=2},tg-verify{level=kernels}' | filecheck %s --check-prefix=INNER
// RUN: tg-opt %s -p 'tg-merge{first=1 second=2},tg-split{axis=1 factor=64 target=upcast},tg-verify{level=kernels}' | filecheck %s --check-prefix=VECTORS
// RUN: tg-opt %s -p 'tg-optimize{mode=heuristic features=avx512f threads=1}' | filecheck %s --check-prefix=HEURISTIC
// RUN: not tg-opt %s -p 'tg-merge{first=0 second=1}' 2>&1 | filecheck %s --check-prefix=ALONE
// RUN: not tg-opt %s -p 'tg-merge{first=2 second=1}' 2>&1 | filecheck %s --check-prefix=TURNED
// RUN: not tg-opt %s -p 'tg-merge{first=1 second=3}' 2>&1 | filecheck %s --check-prefix=TYPES
// RUN: not tg-opt %s -p 'tg-merge{first=1 second=1}' 2>&1 | filecheck %s --check-prefix=SAME
// RUN: not tg-opt %s -p 'tg-split{axis=2 factor=16 target=upcast},tg-split{axis=1 factor=2 target=upcast},tg-merge{first=4 second=5}' 2>&1 | filecheck %s --check-prefix=UPCAST

// A range for each channel, two for the rows and columns of an image, and one that is reduced: two
// that are neighbouring indices wherever they are used become one, of a view of the memory.

// INNER: %[[N:.*]] = tg.const 768 : tensor<index>
// INNER: %[[P:.*]] = tg.range 1 global to %[[N]]
// INNER: %[[X:.*]] = tg.reshape %x [4, 768, 1] : tensor<4x24x1x32x1xf32, #tg.place<global>>
// INNER: tg.index %[[X]][%k, %[[P]], %z]
// INNER: %[[O:.*]] = tg.reshape %o [8, 768]
// INNER: tg.index %[[O]][%c, %[[P]]]
// INNER: tg.end %s over %[[P]], %c
// INNER: tg.sink %e opts [#tg.opt<merge 1, 2>]

// VECTORS: tg.range 1 global to
// VECTORS: tg.range 4 upcast to

// HEURISTIC: opts [#tg.opt<merge 1, 2>,

// ALONE: error: pass tg-merge: merge 0, 1: memory has other axes than ranges 0 and 1

// TURNED: error: pass tg-merge: merge 2, 1: range 1 is not directly inside of range 2

// TYPES: error: pass tg-merge: merge 1, 3: ranges 1 and 3 are not two of one type

// SAME: error: pass tg-merge: merge 1, 1: ranges 1 and 1 are not two of one type

// UPCAST: error: pass tg-merge: merge 4, 5: range 4 is upcast

#g = #tg.place<global>
module attributes {tg.target = #tg.target<"cpu", features = []>} {
tg.kernel @pointwise {
  %o = tg.param 0 : tensor<8x24x32xf32, #g>
  %x = tg.param 1 : tensor<4x24x1x32x1xf32, #g>
  %w = tg.param 2 : tensor<8x4xf32, #g>
  %c8 = tg.const 8 : tensor<index>
  %c24 = tg.const 24 : tensor<index>
  %c32 = tg.const 32 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %z = tg.const 0 : tensor<index>
  %c = tg.range 0 loop to %c8 : tensor<index>
  %i = tg.range 1 loop to %c24 : tensor<index>
  %j = tg.range 2 loop to %c32 : tensor<index>
  %k = tg.range 3 reduce to %c4 : tensor<index>
  %xl = tg.index %x[%k, %i, %z, %j, %z] : (tensor<4x24x1x32x1xf32, #g>, tensor<index>, tensor<index>, tensor<index>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %xv = tg.load %xl : tensor<f32, #g> -> tensor<f32>
  %wl = tg.index %w[%c, %k] : (tensor<8x4xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %wv = tg.load %wl : tensor<f32, #g> -> tensor<f32>
  %m = tg.mul %wv, %xv : tensor<f32>
  %r = tg.reduce add %m [] over %k : tensor<f32> -> tensor<f32>
  %ol = tg.index %o[%c, %i, %j] : (tensor<8x24x32xf32, #g>, tensor<index>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %r : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %j, %i, %c : !tg.void
  tg.sink %e : !tg.void
}
}

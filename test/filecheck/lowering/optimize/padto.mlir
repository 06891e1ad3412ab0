// RUN: tg-opt %s -p 'tg-padto{axis=0 multiple=6},tg-simplify,tg-verify{level=kernels}' | filecheck %s --check-prefix=ROWS
// RUN: tg-opt %s -p 'tg-padto{axis=1 multiple=24},tg-simplify,tg-verify{level=kernels}' | filecheck %s --check-prefix=COLUMNS
// RUN: tg-opt %s -p 'tg-padto{axis=2 multiple=16},tg-simplify,tg-verify{level=kernels}' | filecheck %s --check-prefix=SUM
// RUN: tg-opt %s -p 'tg-padto{axis=1 multiple=24 clamp=true},tg-simplify,tg-verify{level=kernels}' | filecheck %s --check-prefix=CLAMP
// RUN: tg-opt %s -p 'tg-padto{axis=0 multiple=8}' | filecheck %s --check-prefix=MULTIPLE
// RUN: tg-opt %s -p 'tg-optimize{mode=explicit opts="padto 0, 8"}' | filecheck %s --check-prefix=MULTIPLE
// RUN: not tg-opt %s -p 'tg-split{axis=0 factor=16 target=upcast},tg-padto{axis=0 multiple=6}' 2>&1 | filecheck %s --check-prefix=UPCAST

// PADTO: what is not there is masked. Rows are those of the last iteration, columns are gated, and a REDUCE takes its identity.

// ROWS: %{{.*}} = tg.const 18
// ROWS: %i = tg.range 0 global to %{{.*}}
// ROWS: %{{.*}} = tg.cmplt %i, %c16
// ROWS: %{{.*}} = tg.where %{{.*}}, %i, %{{.*}}
// ROWS: %j = tg.range 1 global to %c32
// ROWS: %k = tg.range 2 reduce to %c8
// ROWS: %al = tg.index %a[%{{.*}}, %k]
// ROWS: %av = tg.load %al
// ROWS: %bv = tg.load %bl
// ROWS: %s = tg.store %ol, %r gate %{{.*}}
// ROWS: %{{.*}} = tg.sink %e opts [#tg.opt<padto 0, 6>]

// COLUMNS: %i = tg.range 0 global to %c16
// COLUMNS: %j = tg.range 1 global to %{{.*}}
// COLUMNS: %{{.*}} = tg.cmplt %j, %c32
// COLUMNS: %k = tg.range 2 reduce to %c8
// COLUMNS: %av = tg.load %al
// COLUMNS: %bl = tg.index %b[%k, %j]
// COLUMNS: %bv = tg.load %bl alt %{{.*}} gate %{{.*}}
// COLUMNS: %s = tg.store %ol, %r gate %{{.*}}
// COLUMNS: %{{.*}} = tg.sink %e opts [#tg.opt<padto 1, 24>]

// CLAMP: %j = tg.range 1 global to %{{.*}}
// CLAMP: %[[IN:.*]] = tg.cmplt %j, %c32
// CLAMP: %[[LAST:.*]] = tg.where %[[IN]], %j, %{{.*}}
// CLAMP: %bl = tg.index %b[%k, %[[LAST]]]
// CLAMP: %bv = tg.load %bl : tensor<f32
// CLAMP: %s = tg.store %ol, %r gate %[[IN]]
// CLAMP: %{{.*}} = tg.sink %e opts [#tg.opt<padto 1, 24, clamp>]

// SUM: %i = tg.range 0 global to %c16
// SUM: %j = tg.range 1 global to %c32
// SUM: %k = tg.range 2 reduce to %c16
// SUM: %{{.*}} = tg.cmplt %k, %c8
// SUM: %av = tg.load %al
// SUM: %bv = tg.load %bl
// SUM: %{{.*}} = tg.where %{{.*}}, %m, %{{.*}}
// SUM: %r = tg.reduce add %{{.*}} [] over %k
// SUM: %{{.*}} = tg.sink %e opts [#tg.opt<padto 2, 16>]

// A multiple stays as it is.
// MULTIPLE: %i = tg.range 0 global to %c16
// MULTIPLE-NOT: tg.where
// MULTIPLE: %{{.*}} = tg.sink %e opts []

// UPCAST: error: pass tg-padto: padto 0, 6: range 0 is upcast

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

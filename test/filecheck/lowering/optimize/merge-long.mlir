// RUN: not tg-opt %s -p 'tg-merge{first=0 second=1}' 2>&1 | filecheck %s
// RUN: not tg-opt %s -p 'tg-to-gpu{target=nvidia:sm_90 mode=none}' 2>&1 | filecheck %s --check-prefix=GRID

// Two ranges with more iterations together than an index counts are not merged, and are no grid.

// CHECK: error: pass tg-merge: merge 0, 1: ranges 0 and 1 have 18446744073709551616 iterations, more than an index counts

// GRID: merge-long.mlir:[[#]]:1: error: pass tg-linearize: {{[0-9]+}} workgroups are more than an index counts

tg.kernel @k {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %v = tg.const 1.0 : tensor<f32>
  %n = tg.const 4294967296 : tensor<index>
  %i = tg.range 0 global to %n : tensor<index>
  %j = tg.range 1 global to %n : tensor<index>
  %g = tg.range 2 global to %n : tensor<index>
  %h = tg.range 3 global to %n : tensor<index>
  %z = tg.const 8 : tensor<index>
  %a = tg.add %g, %h : tensor<index>
  %b = tg.add %i, %j : tensor<index>
  %s = tg.add %a, %b : tensor<index>
  %m = tg.mod %s, %z : tensor<index>
  %p = tg.index %o[%m] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %w = tg.store %p, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %w over %h, %g, %j, %i : !tg.void
  %k = tg.sink %e : !tg.void
}

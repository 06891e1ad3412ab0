// RUN: not tg-opt %s -p 'tg-stage{slot=1 axis=0}' 2>&1 | filecheck %s

// STAGE copies cells in loops of its own. A REDUCE has its loops already: where an index is one in
// the loops of the tile, the copy would be of one cell.

// CHECK: error: pass tg-stage: stage 1, 0, local: where a cell of the tile is depends on what its loops compute

#g = #tg.place<global>
tg.kernel @counted {
  %o = tg.param 0 : tensor<4x6xf32, #g>
  %x = tg.param 1 : tensor<4x6xf32, #g>
  %c4 = tg.const 4 : tensor<index>
  %c6 = tg.const 6 : tensor<index>
  %c0 = tg.const 0 : tensor<index>
  %c1 = tg.const 1 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %j = tg.range 1 loop to %c6 : tensor<index>
  %k = tg.range 2 reduce to %c4 : tensor<index>
  %is_below = tg.cmplt %k, %j : (tensor<index>, tensor<index>) -> tensor<i1>
  %one = tg.where %is_below, %c1, %c0 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %n = tg.reduce add %one [] over %k : tensor<index> -> tensor<index>
  %xl = tg.index %x[%i, %n] : (tensor<4x6xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %v = tg.load %xl : tensor<f32, #g> -> tensor<f32>
  %ol = tg.index %o[%i, %j] : (tensor<4x6xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %v : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e : !tg.void
}

// RUN: not tg-opt %s -p 'tg-padto{axis=0 multiple=4}' 2>&1 | filecheck %s

// PADTO of a range that would have more iterations than an index counts.

// CHECK: padto_index.mlir:7:1: error: pass tg-padto: padto 0, 4: range 0 to 9223372036854775808 has more iterations than an index counts

tg.kernel @k {
  %o = tg.param 0 : tensor<9223372036854775807xi8, #tg.place<global>>
  %v = tg.const 1 : tensor<i8>
  %c = tg.const 9223372036854775807 : tensor<index>
  %r = tg.range 0 loop to %c : tensor<index>
  %p = tg.index %o[%r] : (tensor<9223372036854775807xi8, #tg.place<global>>, tensor<index>) -> tensor<i8, #tg.place<global>>
  %s = tg.store %p, %v : tensor<i8, #tg.place<global>>, tensor<i8>
  %d = tg.end %s over %r : !tg.void
  %e = tg.sink %d : !tg.void
}

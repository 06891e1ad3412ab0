// RUN: not tg-opt %s -p 'tg-split{axis=0 factor=1 target=upcast}' 2>&1 | filecheck %s --check-prefix=UPCAST
// RUN: not tg-opt %s -p 'tg-optimize{mode=explicit opts="split 1, 1, unroll"}' 2>&1 | filecheck %s --check-prefix=UNROLL

// UPCAST: error: pass tg-split: split 0, 1, upcast: can't upcast a dimension with size 1: range 0
// UNROLL: error: pass tg-optimize: kernel @k: split 1, 1, unroll: can't unroll a dimension with size 1: range 1
tg.kernel @k {
  %p = tg.param 0 : tensor<1x1xf32, #tg.place<global>>
  %q = tg.param 1 : tensor<1xf32, #tg.place<global>>
  %one = tg.const 1 : tensor<index>
  %i = tg.range 0 loop to %one : tensor<index>
  %j = tg.range 1 reduce to %one : tensor<index>
  %at = tg.index %p[%i, %j] : (tensor<1x1xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %x = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %sum = tg.reduce add %x [] over %j : tensor<f32> -> tensor<f32>
  %to = tg.index %q[%i] : (tensor<1xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %to, %sum : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

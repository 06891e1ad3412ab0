// RUN: not tg-opt %s -p 'tg-stage{slot=1 axis=0 space=global}' 2>&1 | filecheck %s

// Where the cells are that are loaded is known to the kernel alone.

// CHECK: error: pass tg-stage: stage 1, 0, global: where the parameter is loaded depends on other memory

#g = #tg.place<global>
tg.kernel @gather {
  %o = tg.param 0 : tensor<8xf32, #g>
  %w = tg.param 1 : tensor<16xf32, #g>
  %n = tg.param 2 : tensor<8xindex, #g>
  %c8 = tg.const 8 : tensor<index>
  %i = tg.range 0 loop to %c8 : tensor<index>
  %nl = tg.index %n[%i] : (tensor<8xindex, #g>, tensor<index>) -> tensor<index, #g>
  %nv = tg.load %nl : tensor<index, #g> -> tensor<index>
  %wl = tg.index %w[%nv] : (tensor<16xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %wv = tg.load %wl : tensor<f32, #g> -> tensor<f32>
  %ol = tg.index %o[%i] : (tensor<8xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %wv : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

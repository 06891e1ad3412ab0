// RUN: tg-opt %s -p 'tg-optimize{target=opencl mode=heuristic}' | filecheck %s

// A kernel whose loops are registers already has no loop for work items, and stays as it is.

// CHECK: %r = tg.range 0 unroll to %c
// CHECK: %d = tg.end %s over %r : !tg.void

tg.kernel @k {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %v = tg.const 1.0 : tensor<f32>
  %c = tg.const 8 : tensor<index>
  %r = tg.range 0 unroll to %c : tensor<index>
  %p = tg.index %o[%r] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %p, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %d = tg.end %s over %r : !tg.void
  %e = tg.sink %d : !tg.void
}

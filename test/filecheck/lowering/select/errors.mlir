// RUN: tg-opt %s --verify-each=false -p tg-select --split-input-file --verify-diagnostics

tg.kernel @special {
  %c4 = tg.const 4 : tensor<index>
  // expected-error@below {{the target cpu has no tg.special}}
  %i = tg.special "gidx0" to %c4 : tensor<index>
  tg.sink
}

// -----

tg.kernel @wmma {
  %a = tg.param 0 : tensor<1xf32, #tg.place<global>>
  %x = tg.load %a : tensor<1xf32, #tg.place<global>> -> tensor<1xf32>
  // expected-error@below {{the target cpu has no 2x2x2 wmma of 4 threads that multiplies f32 and adds f32}}
  %w = tg.wmma %x, %x, %x config <2x2x2, threads = 4, a = ["k0", "m0"], b = ["n0", "k0"], c = ["n0", "m0"]> : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  tg.sink
}

// -----

tg.kernel @atomic {
  %o = tg.param 0 : tensor<bf16, #tg.place<global>>
  %v = tg.const 1.0 : tensor<bf16>
  // expected-error@below {{the target cpu has no atomic add of bf16: it has only its bits}}
  %s = tg.atomicadd %o, %v : tensor<bf16, #tg.place<global>>, tensor<bf16>
  tg.sink %s : !tg.void
}

// -----

tg.kernel @reduce {
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 reduce to %c4 : tensor<index>
  // expected-error@below {{a REDUCE over ranges: tg-expand makes loops of them}}
  %s = tg.reduce add %i [] over %i : tensor<index> -> tensor<index>
  tg.sink
}

// -----

tg.kernel @cut {
  %x = tg.param 0 : tensor<4x8xui8, #tg.place<global>>
  %s = tg.shrink %x at [0, 4] to [4, 4] : tensor<4x8xui8, #tg.place<global>> -> tensor<4x4xui8, #tg.place<global>>
  %b = tg.bitcast %s to f32 : tensor<4x4xui8, #tg.place<global>> -> tensor<4x1xf32, #tg.place<global>>
  // expected-error@below {{a bitcast of a part of a buffer, which tg.shrink cuts out}}
  %v = tg.load %b : tensor<4x1xf32, #tg.place<global>> -> tensor<4x1xf32>
  tg.sink
}

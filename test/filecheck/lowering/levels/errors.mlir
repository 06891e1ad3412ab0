// RUN: tg-opt %s --split-input-file --verify-diagnostics -p tg-expand

// What is at no level is at fault for the stage that is run.

tg.kernel @k {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %v = tg.load %o : tensor<f32, #tg.place<global>> -> tensor<f32>
  // expected-error@below {{tg-expand needs level kernels: tg.detach is not part of tg.kernel at level kernels}}
  %d = tg.detach %v : tensor<f32>
  %s = tg.store %o, %d : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

tg.kernel @k {
  %m = tg.param 0 : tensor<f32, #tg.place<global>>
  %v = tg.const 1.0 : tensor<f32>
  %s = tg.store %m, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  // CHECK: %b = tg.barrier %s : !tg.void
  // GENERIC: %b = "tg.barrier"(%s) : (!tg.void) -> !tg.void
  %b = tg.barrier %s : !tg.void
  // CHECK: %c = tg.barrier %b, %m : !tg.void, tensor<f32, #tg.place<global>>
  // GENERIC: %c = "tg.barrier"(%b, %m) : (!tg.void, tensor<f32, #tg.place<global>>) -> !tg.void
  %c = tg.barrier %b, %m : !tg.void, tensor<f32, #tg.place<global>>
  // CHECK: %e = tg.barrier
  // GENERIC: %e = "tg.barrier"() : () -> !tg.void
  %e = tg.barrier
  %sink = tg.sink %c : !tg.void
}

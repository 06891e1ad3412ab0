// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s
// RUN: tg-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK:      tg.kernel @zero {
// CHECK-NEXT:   %o = tg.param 0
// CHECK:        %sink = tg.sink
// CHECK-NEXT: }
// GENERIC: "tg.kernel"() <{sym_name = "zero"}> ({
tg.kernel @zero {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %z = tg.const 0.0 : tensor<f32>
  %n = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %p = tg.index %o[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %p, %z : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %sink = tg.sink %e opts [#tg.opt<nolocals>] : !tg.void
}

// CHECK: tg.kernel @empty attributes {tag = "t"} {
tg.kernel @empty attributes {tag = "t"} {
  %sink = tg.sink
}

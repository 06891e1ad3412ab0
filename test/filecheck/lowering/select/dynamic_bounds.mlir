// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-select)' | filecheck %s

// Indices that are less than dynamic extents because RANGEs are less than their bounds need no gate.

// CHECK-LABEL: tg.kernel @reverse
// CHECK-NOT:     gate
// CHECK-NOT:     cmp
// CHECK:         tg.sink
tg.kernel @reverse {
  %n = tg.param 0 "n" min 1 max 100 : tensor<index>
  %o = tg.param 1 (%n) : tensor<?xf32, #tg.place<global>>
  %x = tg.param 2 (%n) : tensor<?xf32, #tg.place<global>>
  %one = tg.const 1 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %last = tg.sub %n, %one : tensor<index>
  %at = tg.sub %last, %i : tensor<index>
  %from = tg.index %x[%i] : (tensor<?xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %from : tensor<f32, #tg.place<global>> -> tensor<f32>
  %to = tg.index %o[%at] : (tensor<?xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %to, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

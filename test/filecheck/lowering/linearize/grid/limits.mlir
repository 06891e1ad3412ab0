// RUN: tg-opt %s -p tg-linearize | filecheck %s

// What a grid has not: long second axes, more than three axes, and loops over workgroups that wait for each other.

module attributes {tg.target = #tg.target<"opencl">} {

// The second axis of a grid has at most 65535 workgroups: the two axes are merged.

// CHECK-LABEL: tg.program @long
// CHECK:         [[N:%.+]] = tg.const 140000
// CHECK:         [[G:%.+]] = tg.special "gidx0" to [[N]]
// CHECK-NOT:     tg.special
// CHECK-DAG:     tg.mod [[G]],
// CHECK-DAG:     tg.idiv [[G]],
// CHECK:         tg.store
tg.kernel @long {
  %o = tg.param 0 : tensor<140000xf32, #tg.place<global>>
  %n = tg.const 70000 : tensor<index>
  %two = tg.const 2 : tensor<index>
  %i = tg.range 0 global to %n : tensor<index>
  %j = tg.range 1 global to %two : tensor<index>
  %i2 = tg.mul %i, %two : tensor<index>
  %ij = tg.add %i2, %j : tensor<index>
  %c = tg.index %o[%ij] : (tensor<140000xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %x = tg.const 1.0 : tensor<f32>
  %s = tg.store %c, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e : !tg.void
}

// A loop that reads what another one has stored to global memory: workgroups cannot wait for each other, so both are loops.

// CHECK-LABEL: tg.program @dependent
// CHECK-NOT:     tg.special
// CHECK:         tg.range 0 loop
// CHECK:         tg.store
// CHECK:         tg.range 1 loop
// CHECK:         tg.load
// CHECK:         tg.store
tg.kernel @dependent {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %eight = tg.const 8 : tensor<index>
  %seven = tg.const 7 : tensor<index>
  %x = tg.const 1.0 : tensor<f32>
  %i = tg.range 0 global to %eight : tensor<index>
  %c = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %c, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %a = tg.after %o, %e : (tensor<8xf32, #tg.place<global>>, !tg.void) -> tensor<8xf32, #tg.place<global>>
  %j = tg.range 1 global to %eight : tensor<index>
  %k = tg.sub %seven, %j : tensor<index>
  %d = tg.index %a[%k] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %y = tg.load %d : tensor<f32, #tg.place<global>> -> tensor<f32>
  %q = tg.index %p[%j] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %t = tg.store %q, %y : tensor<f32, #tg.place<global>>, tensor<f32>
  %u = tg.end %t over %j : !tg.void
  tg.sink %u : !tg.void
}
}

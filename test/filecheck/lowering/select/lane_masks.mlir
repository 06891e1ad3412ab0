// RUN: tg-opt %s -p 'tg-select{features=avx2},tg-verify{level=target}' | filecheck %s

// Masks of lanes are compared in 32 bits, with what the lanes have in common as a scalar. The gate of
// the LOAD, i + 1 < 1000, and the condition on what it loads, i < 999, are one op.

// CHECK-LABEL:  tg.kernel @border
// CHECK:        %[[LANES:.*]] = tg.cast %{{.*}} to i32 : tensor<8xindex> -> tensor<8xi32>
// CHECK:        %[[LAST:.*]] = tg.const 999
// CHECK:        %[[LEFT:.*]] = tg.sub %[[LAST]], %{{.*}} : tensor<index>
// CHECK:        %[[LIMIT:.*]] = tg.cast %[[LEFT]] to i32 : tensor<index> -> tensor<i32>
// CHECK:        %[[MASK:.*]] = tg.cmplt %[[LANES]], %[[LIMIT]]
// CHECK-NOT:    tg.cmplt
// CHECK:        tg.load %{{.*}} gate %[[MASK]]
// CHECK:        tg.where %[[MASK]]
tg.kernel @border {
  %o = tg.param 0 : tensor<1000xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<1000xf32, #tg.place<global>>
  %n = tg.const 125 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %c1 = tg.const 1 : tensor<index>
  %last = tg.const 999 : tensor<index>
  %zero = tg.const 0.0 : tensor<f32>
  %lanes = tg.vconst [0, 1, 2, 3, 4, 5, 6, 7] : tensor<8xindex>
  %start = tg.mul %i, %c8 : tensor<index>
  %v = tg.add %start, %lanes : (tensor<index>, tensor<8xindex>) -> tensor<8xindex>
  %next = tg.add %v, %c1 : (tensor<8xindex>, tensor<index>) -> tensor<8xindex>
  %inside = tg.cmplt %v, %last : (tensor<8xindex>, tensor<index>) -> tensor<8xi1>
  %at = tg.index %p[%next] : (tensor<1000xf32, #tg.place<global>>, tensor<8xindex>) -> tensor<8xf32, #tg.place<global>>
  %x = tg.load %at : tensor<8xf32, #tg.place<global>> -> tensor<8xf32>
  %y = tg.where %inside, %x, %zero : (tensor<8xi1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %to = tg.index %o[%v] : (tensor<1000xf32, #tg.place<global>>, tensor<8xindex>) -> tensor<8xf32, #tg.place<global>>
  %s = tg.store %to, %y : tensor<8xf32, #tg.place<global>>, tensor<8xf32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// Indices that may be out of 32 bits are compared in 64.
// CHECK-LABEL:  tg.kernel @wide
// CHECK:        tg.cmplt %{{.*}} : (tensor<8xindex>, tensor<index>)
tg.kernel @wide {
  %o = tg.param 0 : tensor<8xi1, #tg.place<global>>
  %n = tg.param 1 "n" min 0 max 1099511627776 : tensor<index>
  %lanes = tg.vconst [0, 1, 2, 3, 4, 5, 6, 7] : tensor<8xindex>
  %inside = tg.cmplt %lanes, %n : (tensor<8xindex>, tensor<index>) -> tensor<8xi1>
  %s = tg.store %o, %inside : tensor<8xi1, #tg.place<global>>, tensor<8xi1>
  tg.sink %s : !tg.void
}

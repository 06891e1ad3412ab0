// RUN: tg-opt %s -p tg-select | filecheck %s

// The gate says of each lane that its row is 0, which says nothing of the row in the last lane: that
// is 2 to 4, so that the access is checked.
// CHECK-LABEL: tg.kernel @another_lane
// CHECK: %[[LAST:.*]] = tg.index %rows[%{{.*}}]
// CHECK: %[[ROW:.*]] = tg.add %[[LAST]], %r
// CHECK: %[[INSIDE:.*]] = tg.cmplt %[[ROW]], %{{.*}} : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK: %[[GATE:.*]] = tg.and %gate, %[[INSIDE]]
// CHECK: tg.load %{{.*}} alt %{{.*}} gate %[[GATE]]
builtin.module attributes {tg.target = #tg.target<"cpu", features = ["avx512f"]>} {
tg.kernel @another_lane {
  %out = tg.param 0 : tensor<6xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<4x6xf32, #tg.place<global>>
  %c0 = tg.const 0 : tensor<index>
  %c1 = tg.const 1 : tensor<index>
  %c3 = tg.const 3 : tensor<index>
  %c5 = tg.const 5 : tensor<index>
  %zero1 = tg.const 0.0 : tensor<f32>
  %zero2 = tg.reshape %zero1 [1] : tensor<f32> -> tensor<1xf32>
  %zero = tg.expand %zero2 [6] : tensor<1xf32> -> tensor<6xf32>
  %r = tg.range 0 loop to %c3 : tensor<index>
  %v = tg.vconst [0, 1, 2, 3, 4, 5] : tensor<6xindex>
  %lanes = tg.vconst [1, 2, 3, 4, 5, 6] : tensor<6xindex>
  %rows = tg.idiv %lanes, %c3 : (tensor<6xindex>, tensor<index>) -> tensor<6xindex>
  %last = tg.index %rows[%c5] : (tensor<6xindex>, tensor<index>) -> tensor<index>
  %row = tg.add %last, %r : tensor<index>
  %gate = tg.cmplt %rows, %c1 : (tensor<6xindex>, tensor<index>) -> tensor<6xi1>
  %at = tg.index %x[%row, %v] : (tensor<4x6xf32, #tg.place<global>>, tensor<index>, tensor<6xindex>) -> tensor<6xf32, #tg.place<global>>
  %value = tg.load %at alt %zero gate %gate : tensor<6xf32, #tg.place<global>>, tensor<6xf32>, tensor<6xi1> -> tensor<6xf32>
  %to = tg.index %out[%v] : (tensor<6xf32, #tg.place<global>>, tensor<6xindex>) -> tensor<6xf32, #tg.place<global>>
  %st = tg.store %to, %value : tensor<6xf32, #tg.place<global>>, tensor<6xf32>
  %end = tg.end %st over %r : !tg.void
  %sink = tg.sink %end : !tg.void
}
}

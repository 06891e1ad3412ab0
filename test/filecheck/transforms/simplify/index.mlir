// RUN: tg-opt %s -p tg-simplify | filecheck %s

// The index arithmetic of a tiled loop: (i * 4 + j) and what is derived from it.
// CHECK-LABEL: tg.kernel @tiles
// CHECK:      %[[I4:.*]] = tg.mul %i, %c4 : tensor<index>
// CHECK-NEXT: %[[FLAT:.*]] = tg.add %[[I4]], %j : tensor<index>
// CHECK-NEXT: tg.index %o[%[[FLAT]]]
// CHECK-NEXT: tg.load
// CHECK-NEXT: tg.index %o[%i]
// CHECK-NEXT: tg.index %o[%j]
// CHECK-NEXT: tg.add
// CHECK-NEXT: tg.store %{{.*}}, %{{.*}} : tensor<f32, #tg.place<global>>, tensor<f32>
tg.kernel @tiles {
  %o = tg.param 0 : tensor<64xf32, #tg.place<global>>
  %c4 = tg.const 4 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %c32 = tg.const 32 : tensor<index>
  %zero = tg.const 0.0 : tensor<f32>
  %i = tg.range 0 loop to %c8 : tensor<index>
  %j = tg.range 1 loop to %c4 : tensor<index>
  %0 = tg.mul %c4, %i : tensor<index>
  %1 = tg.add %0, %j : tensor<index>
  // (i * 4 + j) idiv 8 * 8 + (i * 4 + j) mod 8
  %2 = tg.idiv %1, %c8 : tensor<index>
  %3 = tg.mod %1, %c8 : tensor<index>
  %4 = tg.mul %2, %c8 : tensor<index>
  %5 = tg.add %4, %3 : tensor<index>
  // (i * 4 + j) < 32
  %6 = tg.cmplt %5, %c32 : (tensor<index>, tensor<index>) -> tensor<i1>
  %7 = tg.index %o[%5] : (tensor<64xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %8 = tg.load %7 alt %zero gate %6 : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1> -> tensor<f32>
  // i and j from i * 4 + j; the same load once more
  %9 = tg.idiv %5, %c4 : tensor<index>
  %10 = tg.index %o[%9] : (tensor<64xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %11 = tg.mod %5, %c4 : tensor<index>
  %12 = tg.index %o[%11] : (tensor<64xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %13 = tg.index %o[%1] : (tensor<64xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %14 = tg.load %13 : tensor<f32, #tg.place<global>> -> tensor<f32>
  %15 = tg.add %8, %14 : tensor<f32>
  %16 = tg.store %10, %15 gate %6 : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>
  %17 = tg.store %12, %15 : tensor<f32, #tg.place<global>>, tensor<f32>
  %18 = tg.group %16, %17
  %19 = tg.end %18 over %j, %i : !tg.void
  %20 = tg.sink %19 : !tg.void
}

// A range of size 1 adds nothing, so its loop goes.
// CHECK-LABEL: tg.kernel @unit_range
// CHECK: %j = tg.range 1
// CHECK-NEXT: tg.index %o[%j]
// CHECK: tg.end %{{.*}} over %j : !tg.void
tg.kernel @unit_range {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %c1 = tg.const 1 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %v = tg.const 1.0 : tensor<f32>
  %i = tg.range 0 loop to %c1 : tensor<index>
  %j = tg.range 1 loop to %c4 : tensor<index>
  %0 = tg.add %i, %j : tensor<index>
  %1 = tg.index %o[%0] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %2 = tg.store %1, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %3 = tg.end %2 over %j, %i : !tg.void
  %4 = tg.sink %3 : !tg.void
}

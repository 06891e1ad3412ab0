// RUN: tg-opt %s -p tg-simplify --verify-each=true | filecheck %s

// A histogram: every cell is cleared, then every sample counted where it belongs.
// CHECK-LABEL: tg.kernel @histogram
// CHECK: %[[CLEAR:.*]] = tg.store %to, %zero
// CHECK: %[[CLEARED:.*]] = tg.end %[[CLEAR]] over %k
// CHECK: %[[AFTER:.*]] = tg.after %o, %[[CLEARED]]
// CHECK: %[[CELL:.*]] = tg.index %[[AFTER]][%bin]
// CHECK: %[[ADD:.*]] = tg.atomicadd %[[CELL]], %one
// CHECK: tg.end %[[ADD]] over %d
tg.kernel @histogram {
  %o = tg.param 0 : tensor<8xi32, #tg.place<global>>
  %x = tg.param 1 : tensor<100xindex, #tg.place<global>>
  %cells = tg.const 8 : tensor<index>
  %samples = tg.const 100 : tensor<index>
  %one = tg.const 1 : tensor<i32>
  %zero = tg.const 0 : tensor<i32>
  %k = tg.range 0 loop to %cells : tensor<index>
  %d = tg.range 1 reduce to %samples : tensor<index>
  %at = tg.index %x[%d] : (tensor<100xindex, #tg.place<global>>, tensor<index>) -> tensor<index, #tg.place<global>>
  %bin = tg.load %at : tensor<index, #tg.place<global>> -> tensor<index>
  %hit = tg.cmpeq %bin, %k : (tensor<index>, tensor<index>) -> tensor<i1>
  %p = tg.where %hit, %one, %zero : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %s = tg.reduce add %p [] over %d : tensor<i32> -> tensor<i32>
  %to = tg.index %o[%k] : (tensor<8xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<i32, #tg.place<global>>, tensor<i32>
  %end = tg.end %st over %k : !tg.void
  %sink = tg.sink %end : !tg.void
}

// f16 has no atomic addition, and its sums are kept in f32: the loops stay as they are.
// CHECK-LABEL: tg.kernel @half
// CHECK-NOT: tg.atomicadd
// CHECK: tg.reduce add
// CHECK-NOT: tg.atomicadd
// CHECK: tg.sink
tg.kernel @half {
  %o = tg.param 0 : tensor<8xf16, #tg.place<global>>
  %x = tg.param 1 : tensor<100xindex, #tg.place<global>>
  %cells = tg.const 8 : tensor<index>
  %samples = tg.const 100 : tensor<index>
  %one = tg.const 1.0 : tensor<f16>
  %zero = tg.const 0.0 : tensor<f16>
  %k = tg.range 0 loop to %cells : tensor<index>
  %d = tg.range 1 reduce to %samples : tensor<index>
  %at = tg.index %x[%d] : (tensor<100xindex, #tg.place<global>>, tensor<index>) -> tensor<index, #tg.place<global>>
  %bin = tg.load %at : tensor<index, #tg.place<global>> -> tensor<index>
  %hit = tg.cmpeq %bin, %k : (tensor<index>, tensor<index>) -> tensor<i1>
  %p = tg.where %hit, %one, %zero : (tensor<i1>, tensor<f16>, tensor<f16>) -> tensor<f16>
  %s = tg.reduce add %p [] over %d : tensor<f16> -> tensor<f16>
  %to = tg.index %o[%k] : (tensor<8xf16, #tg.place<global>>, tensor<index>) -> tensor<f16, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f16, #tg.place<global>>, tensor<f16>
  %end = tg.end %st over %k : !tg.void
  %sink = tg.sink %end : !tg.void
}

// The loop reaches 4 of 8 cells and drops the samples of the others, which additions would not.
// CHECK-LABEL: tg.kernel @first_cells
// CHECK-NOT: tg.atomicadd
// CHECK: tg.reduce add
// CHECK-NOT: tg.atomicadd
// CHECK: tg.sink
tg.kernel @first_cells {
  %o = tg.param 0 : tensor<8xi32, #tg.place<global>>
  %x = tg.param 1 : tensor<100xindex, #tg.place<global>>
  %cells = tg.const 4 : tensor<index>
  %samples = tg.const 100 : tensor<index>
  %one = tg.const 1 : tensor<i32>
  %zero = tg.const 0 : tensor<i32>
  %k = tg.range 0 loop to %cells : tensor<index>
  %d = tg.range 1 reduce to %samples : tensor<index>
  %at = tg.index %x[%d] : (tensor<100xindex, #tg.place<global>>, tensor<index>) -> tensor<index, #tg.place<global>>
  %bin = tg.load %at : tensor<index, #tg.place<global>> -> tensor<index>
  %hit = tg.cmpeq %bin, %k : (tensor<index>, tensor<index>) -> tensor<i1>
  %p = tg.where %hit, %one, %zero : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %s = tg.reduce add %p [] over %d : tensor<i32> -> tensor<i32>
  %to = tg.index %o[%k] : (tensor<8xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<i32, #tg.place<global>>, tensor<i32>
  %end = tg.end %st over %k : !tg.void
  %sink = tg.sink %end : !tg.void
}

// Cell k is stored in the iterations of %j, whose bound is k: never for k = 0.
// CHECK-LABEL: tg.kernel @bound
// CHECK-NOT: tg.atomicadd
// CHECK: tg.reduce add
// CHECK-NOT: tg.atomicadd
// CHECK: tg.sink
tg.kernel @bound {
  %o = tg.param 0 : tensor<8xi32, #tg.place<global>>
  %x = tg.param 1 : tensor<100xindex, #tg.place<global>>
  %cells = tg.const 8 : tensor<index>
  %samples = tg.const 100 : tensor<index>
  %one = tg.const 1 : tensor<i32>
  %zero = tg.const 0 : tensor<i32>
  %k = tg.range 0 loop to %cells : tensor<index>
  %j = tg.range 2 loop to %k : tensor<index>
  %d = tg.range 1 reduce to %samples : tensor<index>
  %at = tg.index %x[%d] : (tensor<100xindex, #tg.place<global>>, tensor<index>) -> tensor<index, #tg.place<global>>
  %bin = tg.load %at : tensor<index, #tg.place<global>> -> tensor<index>
  %hit = tg.cmpeq %bin, %k : (tensor<index>, tensor<index>) -> tensor<i1>
  %p = tg.where %hit, %one, %zero : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %s = tg.reduce add %p [] over %d : tensor<i32> -> tensor<i32>
  %repeated = tg.after %o, %j : (tensor<8xi32, #tg.place<global>>, tensor<index>) -> tensor<8xi32, #tg.place<global>>
  %to = tg.index %repeated[%k] : (tensor<8xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<i32, #tg.place<global>>, tensor<i32>
  %end = tg.end %st over %j, %k : !tg.void
  %sink = tg.sink %end : !tg.void
}

// One cell is replaced, the others stay: there is no loop.
// CHECK-LABEL: tg.kernel @one_cell
// CHECK: %[[CELL:.*]] = tg.index %o[%p]
// CHECK: tg.store %[[CELL]], %v gate
// CHECK-NOT: tg.end
tg.kernel @one_cell {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<index>
  %cells = tg.const 8 : tensor<index>
  %v = tg.const 1.0 : tensor<f32>
  %k = tg.range 0 loop to %cells : tensor<index>
  %to = tg.index %o[%k] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %old = tg.load %to : tensor<f32, #tg.place<global>> -> tensor<f32>
  %hit = tg.cmpeq %k, %p : (tensor<index>, tensor<index>) -> tensor<i1>
  %new = tg.where %hit, %v, %old : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %st = tg.store %to, %new : tensor<f32, #tg.place<global>>, tensor<f32>
  %end = tg.end %st over %k : !tg.void
  %sink = tg.sink %end : !tg.void
}

// What another buffer has is copied in each iteration.
// CHECK-LABEL: tg.kernel @copied
// CHECK: tg.end %{{.*}} over %k
tg.kernel @copied {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %p = tg.param 2 : tensor<index>
  %cells = tg.const 8 : tensor<index>
  %v = tg.const 1.0 : tensor<f32>
  %k = tg.range 0 loop to %cells : tensor<index>
  %to = tg.index %o[%k] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %from = tg.index %x[%k] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %old = tg.load %from : tensor<f32, #tg.place<global>> -> tensor<f32>
  %hit = tg.cmpeq %k, %p : (tensor<index>, tensor<index>) -> tensor<i1>
  %new = tg.where %hit, %v, %old : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %st = tg.store %to, %new : tensor<f32, #tg.place<global>>, tensor<f32>
  %end = tg.end %st over %k : !tg.void
  %sink = tg.sink %end : !tg.void
}

// RUN: tg-opt %s -p tg-simplify --verify-each=true | filecheck %s

// Where the gate is true the row is 0 or more, and the column is one of its row.
// CHECK-LABEL: tg.kernel @load
// CHECK-NOT: tg.idiv
// CHECK-NOT: tg.mod
// CHECK: %[[GATE:.*]] = tg.cmplt %{{.*}}, %i
// CHECK: %[[ROW:.*]] = tg.sub %i, %{{.*}}
// CHECK: %[[CELL:.*]] = tg.index %x[%[[ROW]], %j]
// CHECK: tg.load %[[CELL]] alt %{{.*}} gate %[[GATE]]
tg.kernel @load {
  %o = tg.param 0 : tensor<8x16xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<7x16xf32, #tg.place<global>>
  %c0 = tg.const 0 : tensor<index>
  %c1 = tg.const 1 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %c16 = tg.const 16 : tensor<index>
  %i = tg.range 0 loop to %c8 : tensor<index>
  %j = tg.range 1 loop to %c16 : tensor<index>
  %gate = tg.cmplt %c0, %i : (tensor<index>, tensor<index>) -> tensor<i1>
  %before = tg.sub %i, %c1 : tensor<index>
  %rows = tg.mul %before, %c16 : tensor<index>
  %flat = tg.add %rows, %j : tensor<index>
  %row = tg.idiv %flat, %c16 : tensor<index>
  %column = tg.mod %flat, %c16 : tensor<index>
  %at = tg.index %x[%row, %column] : (tensor<7x16xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %zero = tg.const 0.0 : tensor<f32>
  %v = tg.load %at alt %zero gate %gate : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1> -> tensor<f32>
  %to = tg.index %o[%i, %j] : (tensor<8x16xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %end = tg.end %st over %j, %i : !tg.void
  %sink = tg.sink %end : !tg.void
}

// A quotient that is 0 where the gate is true; the other use of it is not under the gate.
// CHECK-LABEL: tg.kernel @store
// CHECK: %[[ZERO:.*]] = tg.const 0 : tensor<index>
// CHECK: %[[QUOTIENT:.*]] = tg.idiv %i, %{{.*}}
// CHECK: tg.index %o[%[[ZERO]], %i]
// CHECK: tg.index %p[%[[QUOTIENT]]]
tg.kernel @store {
  %o = tg.param 0 : tensor<4x8xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %c0 = tg.const 0 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %c32 = tg.const 32 : tensor<index>
  %i = tg.range 0 loop to %c32 : tensor<index>
  %gate = tg.cmplt %i, %c8 : (tensor<index>, tensor<index>) -> tensor<i1>
  %row = tg.idiv %i, %c8 : tensor<index>
  %column = tg.mod %i, %c8 : tensor<index>
  %v = tg.cast %i to f32 : tensor<index> -> tensor<f32>
  %to = tg.index %o[%row, %column] : (tensor<4x8xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %v gate %gate : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>
  %all = tg.index %p[%row] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st2 = tg.store %all, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %both = tg.group %st, %st2
  %end = tg.end %both over %i : !tg.void
  %sink = tg.sink %end : !tg.void
}

// What is read only in one branch of a WHERE.
// CHECK-LABEL: tg.kernel @branch
// CHECK-NOT: tg.mod
// CHECK: tg.index %x[%i]
// CHECK-NOT: tg.mod
tg.kernel @branch {
  %o = tg.param 0 : tensor<32xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %c8 = tg.const 8 : tensor<index>
  %c32 = tg.const 32 : tensor<index>
  %i = tg.range 0 loop to %c32 : tensor<index>
  %inside = tg.cmplt %i, %c8 : (tensor<index>, tensor<index>) -> tensor<i1>
  %column = tg.mod %i, %c8 : tensor<index>
  %at = tg.index %x[%column] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %zero = tg.const 0.0 : tensor<f32>
  %w = tg.where %inside, %v, %zero : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %to = tg.index %o[%i] : (tensor<32xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %w : tensor<f32, #tg.place<global>>, tensor<f32>
  %end = tg.end %st over %i : !tg.void
  %sink = tg.sink %end : !tg.void
}

// A REDUCE names the range of a loop, which under the gate is 0 where the loop has one iteration, but stays a range.
// CHECK-LABEL: tg.kernel @one_iteration
// CHECK: %[[ZERO:.*]] = tg.const 0 : tensor<index>
// CHECK: %[[CELL:.*]] = tg.index %x[%four, %[[ZERO]]]
// CHECK: %[[VALUE:.*]] = tg.load %[[CELL]]
// CHECK: %[[SUM:.*]] = tg.add %[[VALUE]], %{{.*}}
// CHECK: tg.store %{{.*}}, %[[SUM]] gate %inside
tg.kernel @one_iteration {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8x4xf32, #tg.place<global>>
  %one = tg.const 1 : tensor<index>
  %four = tg.const 4 : tensor<index>
  %eight = tg.const 8 : tensor<index>
  %i = tg.range 0 loop to %eight : tensor<index>
  %k = tg.range 1 reduce to %one : tensor<index>
  %inside = tg.cmplt %i, %four : (tensor<index>, tensor<index>) -> tensor<i1>
  %at = tg.max %i, %four : tensor<index>
  %p = tg.index %x[%at, %k] : (tensor<8x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %p : tensor<f32, #tg.place<global>> -> tensor<f32>
  %s = tg.reduce add %v [] over %k : tensor<f32> -> tensor<f32>
  %q = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %w = tg.store %q, %s gate %inside : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>
  %e = tg.end %w over %i : !tg.void
  %z = tg.sink %e : !tg.void
}

// A LOAD that makes memory is never the same as another one.
// CHECK-LABEL: tg.kernel @to_memory
// CHECK: %[[COPY:.*]] = tg.load %{{.*}} addrspace "reg"
// CHECK: %[[VALUE:.*]] = tg.neg %[[COPY]]
// CHECK: %[[SUM:.*]] = tg.add %[[VALUE]], %{{.*}}
// CHECK: tg.store %{{.*}}, %[[SUM]] gate %inside
tg.kernel @to_memory {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8x4xf32, #tg.place<global>>
  %one = tg.const 1 : tensor<index>
  %four = tg.const 4 : tensor<index>
  %eight = tg.const 8 : tensor<index>
  %i = tg.range 0 loop to %eight : tensor<index>
  %k = tg.range 1 reduce to %one : tensor<index>
  %inside = tg.cmplt %i, %four : (tensor<index>, tensor<index>) -> tensor<i1>
  %at = tg.max %i, %four : tensor<index>
  %p = tg.index %x[%at, %k] : (tensor<8x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %u = tg.load %p addrspace "reg" : tensor<f32, #tg.place<global>> -> tensor<f32, #tg.place<reg>>
  %v = tg.neg %u : tensor<f32, #tg.place<reg>> -> tensor<f32>
  %s = tg.reduce add %v [] over %k : tensor<f32> -> tensor<f32>
  %q = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %w = tg.store %q, %s gate %inside : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>
  %e = tg.end %w over %i : !tg.void
  %z = tg.sink %e : !tg.void
}

// A condition on each lane says nothing of another lane.
// CHECK-LABEL: tg.kernel @another_lane
// CHECK: %[[LAST:.*]] = tg.index %{{.*}}[%{{.*}}] : (tensor<6xindex>
// CHECK: %[[AT:.*]] = tg.add %[[LAST]], %r
// CHECK: %[[INSIDE:.*]] = tg.cmplt %[[AT]], %{{.*}}
// CHECK: tg.and %[[INSIDE]], %
tg.kernel @another_lane {
  %out = tg.param 0 : tensor<6xi1, #tg.place<global>>
  %r = tg.param 1 min 0 max 2 : tensor<index>
  %0 = tg.const 0 : tensor<index>
  %3 = tg.const 3 : tensor<index>
  %5 = tg.const 5 : tensor<index>
  %7 = tg.const 7 : tensor<index>
  %lanes = tg.vconst [1, 2, 3, 4, 5, 6] : tensor<6xindex>
  %row = tg.idiv %lanes, %3 : (tensor<6xindex>, tensor<index>) -> tensor<6xindex>
  %first = tg.mul %row, %3 : (tensor<6xindex>, tensor<index>) -> tensor<6xindex>
  %last = tg.index %first[%5] : (tensor<6xindex>, tensor<index>) -> tensor<index>
  %at = tg.add %last, %r : tensor<index>
  %inside = tg.cmplt %at, %7 : (tensor<index>, tensor<index>) -> tensor<i1>
  %one = tg.const 1 : tensor<index>
  %low = tg.cmplt %row, %one : (tensor<6xindex>, tensor<index>) -> tensor<6xi1>
  %more = tg.add %row, %one : (tensor<6xindex>, tensor<index>) -> tensor<6xindex>
  %true = tg.cmplt %0, %more : (tensor<index>, tensor<6xindex>) -> tensor<6xi1>
  %wide = tg.and %inside, %true : (tensor<i1>, tensor<6xi1>) -> tensor<6xi1>
  %both = tg.and %wide, %low : tensor<6xi1>
  %s = tg.store %out, %both : tensor<6xi1, #tg.place<global>>, tensor<6xi1>
  %sink = tg.sink %s : !tg.void
}

// Nor does it of all lanes together.
// CHECK-LABEL: tg.kernel @all_lanes
// CHECK: %[[ROW:.*]] = tg.idiv
// CHECK: %[[LAST:.*]] = tg.reduce max %[[ROW]] [0]
// CHECK: %[[INSIDE:.*]] = tg.cmplt %one, %[[LAST]]
// CHECK: tg.and %[[INSIDE]], %
tg.kernel @all_lanes {
  %out = tg.param 0 : tensor<6xi1, #tg.place<global>>
  %one = tg.const 1 : tensor<index>
  %r = tg.param 1 min 0 max 2 : tensor<index>
  %0 = tg.const 0 : tensor<index>
  %3 = tg.const 3 : tensor<index>
  %5 = tg.const 5 : tensor<index>
  %7 = tg.const 7 : tensor<index>
  %lanes = tg.vconst [1, 2, 3, 4, 5, 6] : tensor<6xindex>
  %row = tg.idiv %lanes, %3 : (tensor<6xindex>, tensor<index>) -> tensor<6xindex>
  %first = tg.mul %row, %3 : (tensor<6xindex>, tensor<index>) -> tensor<6xindex>
  %last = tg.reduce max %row [0] : tensor<6xindex> -> tensor<1xindex>
  %inside = tg.cmplt %one, %last : (tensor<index>, tensor<1xindex>) -> tensor<1xi1>
  %low = tg.cmplt %row, %one : (tensor<6xindex>, tensor<index>) -> tensor<6xi1>
  %more = tg.add %row, %one : (tensor<6xindex>, tensor<index>) -> tensor<6xindex>
  %true = tg.cmplt %0, %more : (tensor<index>, tensor<6xindex>) -> tensor<6xi1>
  %wide = tg.and %inside, %true : (tensor<1xi1>, tensor<6xi1>) -> tensor<6xi1>
  %both = tg.and %wide, %low : tensor<6xi1>
  %s = tg.store %out, %both : tensor<6xi1, #tg.place<global>>, tensor<6xi1>
  %sink = tg.sink %s : !tg.void
}

// A LOAD makes invalid cells valid, so that the one whose gate is false becomes one of its alternative value.
// CHECK-LABEL: func.func @alternative
// CHECK: %[[PAD:.*]] = tg.pad %y
// CHECK: %[[VALID:.*]] = tg.load %[[PAD]] : tensor<4xf32>
// CHECK: tg.exp %[[VALID]]
// CHECK: tg.exp %z
func.func @alternative(%x: tensor<4xf32>, %y: tensor<2xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %false = tg.const false : tensor<i1>
  %pad = tg.pad %y at [1] to [4] : tensor<2xf32> -> tensor<4xf32>
  %a = tg.load %x alt %pad gate %false : tensor<4xf32>, tensor<4xf32>, tensor<i1> -> tensor<4xf32>
  %b = tg.load %x alt %z gate %false : tensor<4xf32>, tensor<4xf32>, tensor<i1> -> tensor<4xf32>
  %c = tg.exp %a : tensor<4xf32>
  %d = tg.exp %b : tensor<4xf32>
  func.return %c, %d : tensor<4xf32>, tensor<4xf32>
}

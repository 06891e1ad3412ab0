// RUN: tg-opt %s -p tg-simplify --verify-each=true | filecheck %s

// The store is still carried out for every i, though nothing in it says i any more.
// CHECK-LABEL: tg.kernel @store_stays_in_its_loop
// CHECK: %[[AFTER:.*]] = tg.after %o, %i
// CHECK-NEXT: %[[AT:.*]] = tg.index %[[AFTER]][%j]
// CHECK-NEXT: %[[STORE:.*]] = tg.store %[[AT]], %v
// CHECK-NEXT: tg.end %[[STORE]] over %j, %i
tg.kernel @store_stays_in_its_loop {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %c3 = tg.const 3 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %v = tg.const 1.0 : tensor<f32>
  %i = tg.range 0 loop to %c3 : tensor<index>
  %j = tg.range 1 loop to %c4 : tensor<index>
  %0 = tg.mul %i, %c4 : tensor<index>
  %1 = tg.add %0, %j : tensor<index>
  %2 = tg.mod %1, %c4 : tensor<index>
  %3 = tg.index %o[%2] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %4 = tg.store %3, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %5 = tg.end %4 over %j, %i : !tg.void
  %6 = tg.sink %5 : !tg.void
}

// Loops of one iteration go, here all of them.
// CHECK-LABEL: tg.kernel @unit_loops
// CHECK-NOT: tg.range
// CHECK: %[[STORE:.*]] = tg.store
// CHECK-NEXT: tg.sink %[[STORE]]
tg.kernel @unit_loops {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %c1 = tg.const 1 : tensor<index>
  %v = tg.const 1.0 : tensor<f32>
  %i = tg.range 0 loop to %c1 : tensor<index>
  %0 = tg.add %i, %c1 : tensor<index>
  %1 = tg.index %o[%0] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %2 = tg.store %1, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %3 = tg.end %2 over %i : !tg.void
  %4 = tg.sink %3 : !tg.void
}

// i - i is 0, so each of these reduces equal values.
// CHECK-LABEL: tg.kernel @reductions
// CHECK-DAG: %[[X:.*]] = tg.load
// CHECK-DAG: %[[COUNT:.*]] = tg.cast %n to f32
// CHECK-DAG: %[[TIMES:.*]] = tg.mul %[[X]], %[[COUNT]]
// CHECK-DAG: %[[SUM:.*]] = tg.add %[[TIMES]], %{{.*}}
// CHECK-DAG: %[[SQUARE:.*]] = tg.mul %[[X]], %[[X]]
// CHECK-DAG: %[[CUBE:.*]] = tg.mul %[[X]], %[[SQUARE]]
// CHECK-DAG: tg.store %{{.*}}, %[[SUM]]
// CHECK-DAG: tg.store %{{.*}}, %[[X]]
// CHECK-DAG: tg.store %{{.*}}, %[[CUBE]]
// CHECK-NOT: tg.reduce
// CHECK: tg.sink
tg.kernel @reductions {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %n = tg.param 1 "n" min 1 max 9 : tensor<index>
  %c0 = tg.const 0 : tensor<index>
  %c1 = tg.const 1 : tensor<index>
  %c2 = tg.const 2 : tensor<index>
  %c3 = tg.const 3 : tensor<index>
  %i = tg.range 0 reduce to %n : tensor<index>
  %j = tg.range 1 reduce to %c3 : tensor<index>
  %0 = tg.sub %i, %i : tensor<index>
  %1 = tg.index %o[%0] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %2 = tg.load %1 : tensor<f32, #tg.place<global>> -> tensor<f32>
  %3 = tg.reduce add %2 [] over %i : tensor<f32> -> tensor<f32>
  %4 = tg.reduce max %2 [] over %i : tensor<f32> -> tensor<f32>
  %5 = tg.sub %j, %j : tensor<index>
  %6 = tg.index %o[%5] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %7 = tg.load %6 : tensor<f32, #tg.place<global>> -> tensor<f32>
  %8 = tg.reduce mul %7 [] over %j : tensor<f32> -> tensor<f32>
  %9 = tg.index %o[%c1] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %10 = tg.index %o[%c2] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %11 = tg.index %o[%c3] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %12 = tg.store %9, %3 : tensor<f32, #tg.place<global>>, tensor<f32>
  %13 = tg.store %10, %4 : tensor<f32, #tg.place<global>>, tensor<f32>
  %14 = tg.store %11, %8 : tensor<f32, #tg.place<global>>, tensor<f32>
  %15 = tg.group %12, %13, %14
  %16 = tg.sink %15 : !tg.void
}

// A sum in order is rounded after each addition, and a range may be empty: nothing is taken out of
// these loops.
// CHECK-LABEL: tg.kernel @pinned
// CHECK: tg.sub %i, %i
// CHECK: tg.reduce add %{{.*}} [] over %i ordered
// CHECK: tg.sub %j, %j
// CHECK: tg.reduce max %{{.*}} [] over %j
tg.kernel @pinned {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %n = tg.param 1 "n" min 0 max 9 : tensor<index>
  %c1 = tg.const 1 : tensor<index>
  %c2 = tg.const 2 : tensor<index>
  %c3 = tg.const 3 : tensor<index>
  %i = tg.range 0 reduce to %c3 : tensor<index>
  %j = tg.range 1 reduce to %n : tensor<index>
  %0 = tg.sub %i, %i : tensor<index>
  %1 = tg.index %o[%0] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %2 = tg.load %1 : tensor<f32, #tg.place<global>> -> tensor<f32>
  %3 = tg.reduce add %2 [] over %i ordered : tensor<f32> -> tensor<f32>
  %4 = tg.sub %j, %j : tensor<index>
  %5 = tg.index %o[%4] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %6 = tg.load %5 : tensor<f32, #tg.place<global>> -> tensor<f32>
  %7 = tg.reduce max %6 [] over %j : tensor<f32> -> tensor<f32>
  %8 = tg.index %o[%c1] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %9 = tg.index %o[%c2] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %10 = tg.store %8, %3 : tensor<f32, #tg.place<global>>, tensor<f32>
  %11 = tg.store %9, %7 : tensor<f32, #tg.place<global>>, tensor<f32>
  %12 = tg.group %10, %11
  %13 = tg.sink %12 : !tg.void
}

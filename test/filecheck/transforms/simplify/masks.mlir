// RUN: tg-opt %s -p tg-simplify --verify-each=true | filecheck %s

// A mask that fixes the range: the one iteration that counts, if the loop has it.
// CHECK-LABEL: tg.kernel @fixed
// CHECK-NOT: tg.reduce
// CHECK: %[[AT:.*]] = tg.cast %k to index
// CHECK: %[[CELL:.*]] = tg.index %x[%[[AT]]]
// CHECK: %[[VALUE:.*]] = tg.load %[[CELL]]
// CHECK: %[[SUM:.*]] = tg.add %[[VALUE]], %{{.*}}
// CHECK: %[[RESULT:.*]] = tg.where %{{.*}}, %[[SUM]], %{{.*}}
// CHECK: tg.store %{{.*}}, %[[RESULT]]
tg.kernel @fixed {
  %o = tg.param 0 : tensor<1xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %k = tg.param 2 : tensor<i32>
  %c0 = tg.const 0 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %r = tg.range 0 reduce to %c8 : tensor<index>
  %at = tg.index %x[%r] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %narrow = tg.cast %r to i32 : tensor<index> -> tensor<i32>
  %hit = tg.cmpeq %narrow, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %mask = tg.cast %hit to f32 : tensor<i1> -> tensor<f32>
  %p = tg.mul %v, %mask : tensor<f32>
  %s = tg.reduce add %p [] over %r : tensor<f32> -> tensor<f32>
  %to = tg.index %o[%c0] : (tensor<1xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %sink = tg.sink %st : !tg.void
}

// The maximum over what a mask leaves is the one value that it leaves, else the least float.
// CHECK-LABEL: tg.kernel @fixed_maximum
// CHECK-NOT: tg.reduce
// CHECK-DAG: %[[LEAST:.*]] = tg.const -inf
// CHECK-DAG: %[[VALUE:.*]] = tg.load
// CHECK: tg.where %{{.*}}, %[[VALUE]], %[[LEAST]]
tg.kernel @fixed_maximum {
  %o = tg.param 0 : tensor<1xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %k = tg.param 2 : tensor<index>
  %c0 = tg.const 0 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %least = tg.const -inf : tensor<f32>
  %r = tg.range 0 reduce to %c8 : tensor<index>
  %at = tg.index %x[%r] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %miss = tg.cmpne %r, %k : (tensor<index>, tensor<index>) -> tensor<i1>
  %p = tg.where %miss, %least, %v : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = tg.reduce max %p [] over %r : tensor<f32> -> tensor<f32>
  %to = tg.index %o[%c0] : (tensor<1xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %sink = tg.sink %st : !tg.void
}

// Masks that bound the range: as many equal values as there are integers between the bounds.
// CHECK-LABEL: tg.kernel @counted
// CHECK-NOT: tg.reduce
// CHECK: %[[COUNT:.*]] = tg.max
// CHECK: %[[NARROW:.*]] = tg.cast %[[COUNT]] to i32
// CHECK: %[[TOTAL:.*]] = tg.mul %v, %[[NARROW]]
// CHECK: tg.store %{{.*}}, %[[TOTAL]]
tg.kernel @counted {
  %o = tg.param 0 : tensor<1xi32, #tg.place<global>>
  %v = tg.param 1 : tensor<i32>
  %low = tg.param 2 "low" min 0 max 100 : tensor<index>
  %high = tg.param 3 "high" min 0 max 100 : tensor<index>
  %c0 = tg.const 0 : tensor<index>
  %c50 = tg.const 50 : tensor<index>
  %zero = tg.const 0 : tensor<i32>
  %r = tg.range 0 reduce to %c50 : tensor<index>
  %after = tg.cmpge %r, %low : (tensor<index>, tensor<index>) -> tensor<i1>
  %before = tg.cmplt %r, %high : (tensor<index>, tensor<index>) -> tensor<i1>
  %both = tg.and %after, %before : tensor<i1>
  %p = tg.where %both, %v, %zero : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %s = tg.reduce add %p [] over %r : tensor<i32> -> tensor<i32>
  %to = tg.index %o[%c0] : (tensor<1xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<i32, #tg.place<global>>, tensor<i32>
  %sink = tg.sink %st : !tg.void
}

// A mask on i8 holds for several r: 3 and 259 are equal there. The loop stays.
// CHECK-LABEL: tg.kernel @cast_loses_bits
// CHECK: tg.reduce add
tg.kernel @cast_loses_bits {
  %o = tg.param 0 : tensor<1xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<999xf32, #tg.place<global>>
  %k = tg.param 2 : tensor<i8>
  %c0 = tg.const 0 : tensor<index>
  %n = tg.const 999 : tensor<index>
  %r = tg.range 0 reduce to %n : tensor<index>
  %at = tg.index %x[%r] : (tensor<999xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %narrow = tg.cast %r to i8 : tensor<index> -> tensor<i8>
  %hit = tg.cmpeq %narrow, %k : (tensor<i8>, tensor<i8>) -> tensor<i1>
  %mask = tg.cast %hit to f32 : tensor<i1> -> tensor<f32>
  %p = tg.mul %v, %mask : tensor<f32>
  %s = tg.reduce add %p [] over %r : tensor<f32> -> tensor<f32>
  %to = tg.index %o[%c0] : (tensor<1xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %sink = tg.sink %st : !tg.void
}

// 2 r = k may have no solution: the loop stays.
// CHECK-LABEL: tg.kernel @even
// CHECK: tg.reduce add
tg.kernel @even {
  %o = tg.param 0 : tensor<1xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %k = tg.param 2 : tensor<index>
  %c0 = tg.const 0 : tensor<index>
  %c2 = tg.const 2 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %zero = tg.const 0.0 : tensor<f32>
  %r = tg.range 0 reduce to %c8 : tensor<index>
  %at = tg.index %x[%r] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %twice = tg.mul %r, %c2 : tensor<index>
  %hit = tg.cmpeq %twice, %k : (tensor<index>, tensor<index>) -> tensor<i1>
  %p = tg.where %hit, %v, %zero : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = tg.reduce add %p [] over %r : tensor<f32> -> tensor<f32>
  %to = tg.index %o[%c0] : (tensor<1xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %sink = tg.sink %st : !tg.void
}

// Constant bounds shorten the loop; the other condition stays.
// CHECK-LABEL: tg.kernel @window
// CHECK: %[[SIZE:.*]] = tg.const 6 : tensor<index>
// CHECK: %[[R:.*]] = tg.range {{.*}} reduce to %[[SIZE]]
// CHECK: %[[AT:.*]] = tg.add %[[R]], %{{.*}}
// CHECK: tg.index %x[%[[AT]]]
// CHECK: tg.where %{{.*}}, %{{.*}}, %{{.*}}
// CHECK: tg.reduce add %{{.*}} [] over %[[R]]
tg.kernel @window {
  %o = tg.param 0 : tensor<1xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<100xf32, #tg.place<global>>
  %m = tg.param 2 : tensor<100xi1, #tg.place<global>>
  %c0 = tg.const 0 : tensor<index>
  %c2 = tg.const 2 : tensor<index>
  %c9 = tg.const 9 : tensor<index>
  %c100 = tg.const 100 : tensor<index>
  %r = tg.range 0 reduce to %c100 : tensor<index>
  %above = tg.cmplt %c2, %r : (tensor<index>, tensor<index>) -> tensor<i1>
  %below = tg.cmplt %r, %c9 : (tensor<index>, tensor<index>) -> tensor<i1>
  %here = tg.index %m[%r] : (tensor<100xi1, #tg.place<global>>, tensor<index>) -> tensor<i1, #tg.place<global>>
  %wanted = tg.load %here : tensor<i1, #tg.place<global>> -> tensor<i1>
  %both = tg.and %above, %below : tensor<i1>
  %all = tg.and %both, %wanted : tensor<i1>
  %at = tg.index %x[%r] : (tensor<100xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %zero = tg.const 0.0 : tensor<f32>
  %w = tg.where %all, %v, %zero : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = tg.reduce add %w [] over %r : tensor<f32> -> tensor<f32>
  %to = tg.index %o[%c0] : (tensor<1xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %sink = tg.sink %st : !tg.void
}

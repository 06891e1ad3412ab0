// RUN: tg-opt %s -p tg-simplify --verify-each=true | filecheck %s

// The reduction of all up to i is carried from one i to the next.
// CHECK-LABEL: tg.kernel @maximum_so_far
// CHECK: %[[I:.*]] = tg.range 0 reduce
// CHECK-NOT: tg.range
// CHECK: %[[ACC:.*]] = tg.buffer 0 : tensor<f32, #tg.place<reg>>
// CHECK-NEXT: %[[START:.*]] = tg.store %[[ACC]], %none
// CHECK-NEXT: %[[NOW:.*]] = tg.after %[[ACC]], %[[START]], %[[I]]
// CHECK-NEXT: %[[OLD:.*]] = tg.load %[[NOW]]
// CHECK-NEXT: %[[NEW:.*]] = tg.max %[[OLD]], %{{.*}}
// CHECK-NEXT: %[[UPDATE:.*]] = tg.store %[[NOW]], %[[NEW]]
// CHECK: %[[WRITE:.*]] = tg.store %{{.*}}, %[[NEW]]
// CHECK-NEXT: %[[BOTH:.*]] = tg.group %[[WRITE]], %[[UPDATE]]
// CHECK-NEXT: tg.end %[[BOTH]] over %[[I]]
tg.kernel @maximum_so_far {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %n = tg.const 8 : tensor<index>
  %none = tg.const -inf : tensor<f32>
  %i = tg.range 0 loop to %n : tensor<index>
  %r = tg.range 1 reduce to %n : tensor<index>
  %at = tg.index %x[%r] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %mask = tg.cmple %r, %i : (tensor<index>, tensor<index>) -> tensor<i1>
  %p = tg.where %mask, %v, %none : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = tg.reduce max %p [] over %r : tensor<f32> -> tensor<f32>
  %to = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %end = tg.end %st over %i : !tg.void
  %sink = tg.sink %end : !tg.void
}

// The narrower floats are accumulated in f32, as everywhere.
// CHECK-LABEL: tg.kernel @half
// CHECK: tg.cast %{{.*}} to f32
// CHECK: tg.buffer 0 : tensor<f32, #tg.place<reg>>
// CHECK: tg.cast %{{.*}} to f16
tg.kernel @half {
  %o = tg.param 0 : tensor<8xf16, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf16, #tg.place<global>>
  %n = tg.const 8 : tensor<index>
  %none = tg.const 0.0 : tensor<f16>
  %i = tg.range 0 loop to %n : tensor<index>
  %r = tg.range 1 reduce to %n : tensor<index>
  %at = tg.index %x[%r] : (tensor<8xf16, #tg.place<global>>, tensor<index>) -> tensor<f16, #tg.place<global>>
  %v = tg.load %at : tensor<f16, #tg.place<global>> -> tensor<f16>
  %mask = tg.cmple %r, %i : (tensor<index>, tensor<index>) -> tensor<i1>
  %p = tg.where %mask, %v, %none : (tensor<i1>, tensor<f16>, tensor<f16>) -> tensor<f16>
  %s = tg.reduce add %p [] over %r : tensor<f16> -> tensor<f16>
  %to = tg.index %o[%i] : (tensor<8xf16, #tg.place<global>>, tensor<index>) -> tensor<f16, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f16, #tg.place<global>>, tensor<f16>
  %end = tg.end %st over %i : !tg.void
  %sink = tg.sink %end : !tg.void
}

// The sum of what is strictly before i.
// CHECK-LABEL: tg.kernel @all_before
// CHECK: tg.range 0 reduce
// CHECK-NOT: tg.range
// CHECK: tg.buffer 0
tg.kernel @all_before {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %n = tg.const 8 : tensor<index>
  %none = tg.const 0.0 : tensor<f32>
  %i = tg.range 0 loop to %n : tensor<index>
  %r = tg.range 1 reduce to %n : tensor<index>
  %at = tg.index %x[%r] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %mask = tg.cmplt %r, %i : (tensor<index>, tensor<index>) -> tensor<i1>
  %p = tg.where %mask, %v, %none : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = tg.reduce add %p [] over %r : tensor<f32> -> tensor<f32>
  %to = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %end = tg.end %st over %i : !tg.void
  %sink = tg.sink %end : !tg.void
}

// For what comes after i the loop runs backwards.
// CHECK-LABEL: tg.kernel @all_after
// CHECK: %[[I:.*]] = tg.range 0 reduce
// CHECK-NOT: tg.range
// CHECK: %[[BACK:.*]] = tg.sub %{{.*}}, %[[I]]
// CHECK: %[[ACC:.*]] = tg.buffer 0 : tensor<f32, #tg.place<reg>>
// CHECK: %[[NEW:.*]] = tg.add
// CHECK: %[[TO:.*]] = tg.index %o[%[[BACK]]]
// CHECK: tg.store %[[TO]], %[[NEW]]
tg.kernel @all_after {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %n = tg.const 8 : tensor<index>
  %none = tg.const 0.0 : tensor<f32>
  %i = tg.range 0 loop to %n : tensor<index>
  %r = tg.range 1 reduce to %n : tensor<index>
  %at = tg.index %x[%r] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %mask = tg.cmplt %i, %r : (tensor<index>, tensor<index>) -> tensor<i1>
  %p = tg.where %mask, %v, %none : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = tg.reduce add %p [] over %r : tensor<f32> -> tensor<f32>
  %to = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %end = tg.end %st over %i : !tg.void
  %sink = tg.sink %end : !tg.void
}

// A window that moves is none either: what leaves it would have to be taken away.
// CHECK-LABEL: tg.kernel @window
// CHECK: tg.range 0 loop
// CHECK: tg.range 1 reduce
// CHECK: tg.reduce add
tg.kernel @window {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %n = tg.const 8 : tensor<index>
  %none = tg.const 0.0 : tensor<f32>
  %i = tg.range 0 loop to %n : tensor<index>
  %r = tg.range 1 reduce to %n : tensor<index>
  %at = tg.index %x[%r] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %three = tg.const 3 : tensor<index>
  %begin = tg.sub %i, %three : tensor<index>
  %before = tg.cmple %r, %i : (tensor<index>, tensor<index>) -> tensor<i1>
  %inside = tg.cmplt %begin, %r : (tensor<index>, tensor<index>) -> tensor<i1>
  %mask = tg.and %before, %inside : tensor<i1>
  %p = tg.where %mask, %v, %none : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = tg.reduce add %p [] over %r : tensor<f32> -> tensor<f32>
  %to = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %end = tg.end %st over %i : !tg.void
  %sink = tg.sink %end : !tg.void
}

// A maximum of other numbers where the mask fails: those count once.
// CHECK-LABEL: tg.kernel @maximum_or_minus_one
// CHECK: %[[I:.*]] = tg.range 0 reduce
// CHECK-NOT: tg.range
// CHECK: %[[SO_FAR:.*]] = tg.max
// CHECK: %[[FAILS:.*]] = tg.cmplt
// CHECK: %[[OTHER:.*]] = tg.where %[[FAILS]], %none, %{{.*}}
// CHECK: tg.max %[[SO_FAR]], %[[OTHER]]
tg.kernel @maximum_or_minus_one {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %n = tg.const 8 : tensor<index>
  %none = tg.const -1.0 : tensor<f32>
  %i = tg.range 0 loop to %n : tensor<index>
  %r = tg.range 1 reduce to %n : tensor<index>
  %at = tg.index %x[%r] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %mask = tg.cmple %r, %i : (tensor<index>, tensor<index>) -> tensor<i1>
  %p = tg.where %mask, %v, %none : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %s = tg.reduce max %p [] over %r : tensor<f32> -> tensor<f32>
  %to = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %end = tg.end %st over %i : !tg.void
  %sink = tg.sink %end : !tg.void
}

// A condition on the elements is part of what is summed.
// CHECK-LABEL: tg.kernel @how_many_are_positive
// CHECK: %[[I:.*]] = tg.range 0 reduce
// CHECK-NOT: tg.range
// CHECK: %[[ONE_OR_NONE:.*]] = tg.where %{{.*}}, %one, %zero
// CHECK: tg.add %{{.*}}, %[[ONE_OR_NONE]]
// CHECK: tg.end %{{.*}} over %[[I]]
tg.kernel @how_many_are_positive {
  %o = tg.param 0 : tensor<8xi32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %n = tg.const 8 : tensor<index>
  %one = tg.const 1 : tensor<i32>
  %zero = tg.const 0 : tensor<i32>
  %limit = tg.const 0.0 : tensor<f32>
  %i = tg.range 0 loop to %n : tensor<index>
  %r = tg.range 1 reduce to %n : tensor<index>
  %at = tg.index %x[%r] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %at : tensor<f32, #tg.place<global>> -> tensor<f32>
  %mask = tg.cmple %r, %i : (tensor<index>, tensor<index>) -> tensor<i1>
  %positive = tg.cmplt %limit, %v : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %both = tg.and %mask, %positive : tensor<i1>
  %p = tg.where %both, %one, %zero : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %s = tg.reduce add %p [] over %r : tensor<i32> -> tensor<i32>
  %to = tg.index %o[%i] : (tensor<8xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
  %st = tg.store %to, %s : tensor<i32, #tg.place<global>>, tensor<i32>
  %end = tg.end %st over %i : !tg.void
  %sink = tg.sink %end : !tg.void
}

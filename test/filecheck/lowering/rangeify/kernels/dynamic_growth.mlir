// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify,tg-simplify | filecheck %s

// Sizes that are arguments change nothing in the order of growth.

// The specification's prefix sum of n elements: one loop, which carries the sum.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @prefix_sum_0
// CHECK:           %[[I:.*]] = tg.range 0 reduce to %n
// CHECK-NOT:       tg.range
// CHECK:           %[[X:.*]] = tg.index %x[%[[I]]]
// CHECK-NEXT:      tg.load %[[X]] :
// CHECK:           tg.buffer 0 : tensor<f32, #tg.place<reg>>
// CHECK:           tg.end %{{.*}} over %[[I]]
func.func @prefix_sum() -> tensor<?xf32> {
  %n = tg.param 0 "n" min 1 max 1000000 : tensor<index>
  %x = tg.param 1 (%n) : tensor<?xf32>
  %one = tg.const 1 : tensor<index>
  %n1 = tg.sub %n, %one : tensor<index>
  %m = tg.add %n, %n1 : tensor<index>
  %np1 = tg.add %n, %one : tensor<index>
  %p = tg.pad %x at [%n1] to [%m] : tensor<?xf32> -> tensor<?xf32>
  %r = tg.reshape %p [1, %m] : tensor<?xf32> -> tensor<1x?xf32>
  %e = tg.expand %r [%np1, %m] : tensor<1x?xf32> -> tensor<?x?xf32>
  %total = tg.mul %np1, %m : tensor<index>
  %f = tg.reshape %e [%total] : tensor<?x?xf32> -> tensor<?xf32>
  %m1 = tg.add %m, %one : tensor<index>
  %nm = tg.mul %n, %m1 : tensor<index>
  %s = tg.shrink %f at [0] to [%nm] : tensor<?xf32> -> tensor<?xf32>
  %w = tg.reshape %s [%n, %m1] : tensor<?xf32> -> tensor<?x?xf32>
  %v = tg.shrink %w at [0, 0] to [%n, %n] : tensor<?x?xf32> -> tensor<?x?xf32>
  %sum = tg.reduce add %v [1] : tensor<?x?xf32> -> tensor<?x1xf32>
  %y = tg.reshape %sum [%n] : tensor<?x1xf32> -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// -----

// k of n elements by one-hot masks, which compare with the prefix sum of n ones: a loop over k.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @gather_0
// CHECK:           %[[I:.*]] = tg.range 0 loop to %k
// CHECK-NOT:       tg.range
// CHECK:           %[[T:.*]] = tg.index %t[%[[I]]]
// CHECK:           %[[X:.*]] = tg.index %x[%{{.*}}]
// CHECK-NEXT:      tg.load %[[X]] :
// CHECK:           tg.end %{{.*}} over %[[I]]
func.func @gather() -> tensor<?xf32> {
  %n = tg.param 0 "n" min 1 max 100000 : tensor<index>
  %k = tg.param 1 "k" min 1 max 100000 : tensor<index>
  %x = tg.param 2 (%n) : tensor<?xf32>
  %t = tg.param 3 (%k) : tensor<?xi32>
  %one = tg.const 1 : tensor<index>
  %n1 = tg.sub %n, %one : tensor<index>
  %m = tg.add %n, %n1 : tensor<index>
  %np1 = tg.add %n, %one : tensor<index>
  %ci = tg.const 1 : tensor<i32>
  %c1 = tg.reshape %ci [1] : tensor<i32> -> tensor<1xi32>
  %ones = tg.expand %c1 [%n] : tensor<1xi32> -> tensor<?xi32>
  %p = tg.pad %ones at [%n1] to [%m] : tensor<?xi32> -> tensor<?xi32>
  %r = tg.reshape %p [1, %m] : tensor<?xi32> -> tensor<1x?xi32>
  %e = tg.expand %r [%np1, %m] : tensor<1x?xi32> -> tensor<?x?xi32>
  %total = tg.mul %np1, %m : tensor<index>
  %f = tg.reshape %e [%total] : tensor<?x?xi32> -> tensor<?xi32>
  %m1 = tg.add %m, %one : tensor<index>
  %nm = tg.mul %n, %m1 : tensor<index>
  %s = tg.shrink %f at [0] to [%nm] : tensor<?xi32> -> tensor<?xi32>
  %w = tg.reshape %s [%n, %m1] : tensor<?xi32> -> tensor<?x?xi32>
  %v = tg.shrink %w at [0, 0] to [%n, %n] : tensor<?x?xi32> -> tensor<?x?xi32>
  %sum = tg.reduce add %v [1] : tensor<?x?xi32> -> tensor<?x1xi32>
  %a = tg.reshape %sum [1, %n] : tensor<?x1xi32> -> tensor<1x?xi32>
  %minus = tg.const -1 : tensor<i32>
  %ar = tg.add %a, %minus : (tensor<1x?xi32>, tensor<i32>) -> tensor<1x?xi32>
  %tt = tg.reshape %t [%k, 1] : tensor<?xi32> -> tensor<?x1xi32>
  %are = tg.expand %ar [%k, %n] : tensor<1x?xi32> -> tensor<?x?xi32>
  %tte = tg.expand %tt [%k, %n] : tensor<?x1xi32> -> tensor<?x?xi32>
  %hot = tg.cmpeq %are, %tte : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi1>
  %xr = tg.reshape %x [1, %n] : tensor<?xf32> -> tensor<1x?xf32>
  %xe = tg.expand %xr [%k, %n] : tensor<1x?xf32> -> tensor<?x?xf32>
  %z = tg.const 0.0 : tensor<f32>
  %h = tg.where %hot, %xe, %z : (tensor<?x?xi1>, tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
  %g = tg.reduce add %h [1] : tensor<?x?xf32> -> tensor<?x1xf32>
  %y = tg.reshape %g [%k] : tensor<?x1xf32> -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

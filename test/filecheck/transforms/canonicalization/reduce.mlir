// RUN: tg-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: @nothing
// A sum is never -0.
// CHECK-NEXT: %[[ZERO:.*]] = tg.const 0.000000e+00
// CHECK-NEXT: %[[ROW:.*]] = tg.reshape %[[ZERO]] [1, 1]
// CHECK-NEXT: %[[ZEROS:.*]] = tg.expand %[[ROW]] [1, 8]
// CHECK-NEXT: %[[SUM:.*]] = tg.add %x, %[[ZEROS]]
// CHECK-NEXT: %[[COLUMN:.*]] = tg.reduce add %x [1]
// CHECK-NEXT: func.return %[[SUM]], %x, %[[COLUMN]]
func.func @nothing(%x: tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x1xf32>) {
  %0 = tg.reduce add %x [] : tensor<1x8xf32> -> tensor<1x8xf32>
  %1 = tg.reduce mul %x [0] : tensor<1x8xf32> -> tensor<1x8xf32>
  %2 = tg.reduce add %x [0, 1] : tensor<1x8xf32> -> tensor<1x1xf32>
  return %0, %1, %2 : tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x1xf32>
}

// The reduction gives the identity for the invalid cells.
// CHECK-LABEL: @invalid
// CHECK: tg.reduce add %{{.*}} []
func.func @invalid(%x: tensor<4xf32>) -> tensor<6xf32> {
  %0 = tg.pad %x at [1] to [6] : tensor<4xf32> -> tensor<6xf32>
  %1 = tg.reduce add %0 [] : tensor<6xf32> -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// CHECK-LABEL: @reduce_of_reduce
// CHECK-NEXT: %0 = tg.reduce add %x [0, 1]
// CHECK-NEXT: func.return %0
func.func @reduce_of_reduce(%x: tensor<4x8xf32>) -> tensor<1x1xf32> {
  %0 = tg.reduce add %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %1 = tg.reduce add %0 [0] : tensor<4x1xf32> -> tensor<1x1xf32>
  return %1 : tensor<1x1xf32>
}

// The order is fixed, the kinds differ, and an f16 is rounded in between.
// CHECK-LABEL: @reduce_twice
// CHECK-COUNT-6: tg.reduce
func.func @reduce_twice(%x: tensor<4x8xf32>, %h: tensor<4x8xf16>) -> (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf16>) {
  %0 = tg.reduce add %x [1] ordered : tensor<4x8xf32> -> tensor<4x1xf32>
  %1 = tg.reduce add %0 [0] : tensor<4x1xf32> -> tensor<1x1xf32>
  %2 = tg.reduce max %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %3 = tg.reduce add %2 [0] : tensor<4x1xf32> -> tensor<1x1xf32>
  %4 = tg.reduce add %h [1] : tensor<4x8xf16> -> tensor<4x1xf16>
  %5 = tg.reduce add %4 [0] : tensor<4x1xf16> -> tensor<1x1xf16>
  return %1, %3, %5 : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf16>
}

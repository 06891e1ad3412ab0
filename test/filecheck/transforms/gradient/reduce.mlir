// RUN: tg-opt %s -p 'tg-gradient{entry=sum},tg-gradient{entry=maximum},tg-gradient{entry=product}' --verify-each=true | filecheck %s

// The gradients of reductions; equal maxima share theirs, a product of one zero has it there.

// CHECK-LABEL: func.func @sum_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.expand %r_gradient [3, 4]
// CHECK-NEXT: func.return %[[V0]]
func.func @sum(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %r = tg.reduce add %x [1] : tensor<3x4xf32> -> tensor<3x1xf32>
  func.return %r : tensor<3x1xf32>
}

// CHECK-LABEL: func.func @maximum_gradient(
// CHECK-NEXT: %r = tg.reduce max %x [1]
// CHECK-NEXT: %[[V0:.*]] = tg.const 0.000000e+00
// CHECK-NEXT: %[[V1:.*]] = tg.cmpeq %x, %r
// CHECK-NEXT: %[[V2:.*]] = tg.cast %[[V1]] to f32
// CHECK-NEXT: %[[V3:.*]] = tg.reduce add %[[V2]] [1]
// CHECK-NEXT: %[[V4:.*]] = tg.div %r_gradient, %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = tg.where %[[V1]], %[[V4]], %[[V0]]
// CHECK-NEXT: func.return %[[V5]]
func.func @maximum(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %r = tg.reduce max %x [1] : tensor<3x4xf32> -> tensor<3x1xf32>
  func.return %r : tensor<3x1xf32>
}

// CHECK-LABEL: func.func @product_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0.000000e+00
// CHECK-NEXT: %[[V1:.*]] = tg.const 1.000000e+00
// CHECK-NEXT: %[[V2:.*]] = tg.cmpeq %x, %[[V0]]
// CHECK-NEXT: %[[V3:.*]] = tg.cast %[[V2]] to f32
// CHECK-NEXT: %[[V4:.*]] = tg.reduce add %[[V3]] [1]
// CHECK-NEXT: %[[V5:.*]] = tg.where %[[V2]], %[[V1]], %x
// CHECK-NEXT: %[[V6:.*]] = tg.reduce mul %[[V5]] [1]
// CHECK-NEXT: %[[V7:.*]] = tg.mul %[[V6]], %r_gradient
// CHECK-NEXT: %[[V8:.*]] = tg.cmpeq %[[V4]], %[[V1]]
// CHECK-NEXT: %[[V9:.*]] = tg.where %[[V8]], %[[V7]], %[[V0]]
// CHECK-NEXT: %[[V10:.*]] = tg.div %[[V7]], %[[V5]]
// CHECK-NEXT: %[[V11:.*]] = tg.cmpeq %[[V4]], %[[V0]]
// CHECK-NEXT: %[[V12:.*]] = tg.where %[[V11]], %[[V10]], %[[V0]]
// CHECK-NEXT: %[[V13:.*]] = tg.where %[[V2]], %[[V9]], %[[V12]]
// CHECK-NEXT: func.return %[[V13]]
func.func @product(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %r = tg.reduce mul %x [1] : tensor<3x4xf32> -> tensor<3x1xf32>
  func.return %r : tensor<3x1xf32>
}

// RUN: tg-opt %s -p 'tg-gradient{entry=sum},tg-gradient{entry=maximum},tg-gradient{entry=product}' --verify-each=true | filecheck %s

// The gradients of reductions; equal maxima share theirs, a product of one zero has it there, and
// one infinity is infinite for the others.

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
// CHECK-NEXT: %[[V2:.*]] = tg.const inf
// CHECK-NEXT: %[[V3:.*]] = tg.cmpeq %x, %[[V0]]
// CHECK-NEXT: %[[V4:.*]] = tg.const -inf
// CHECK-NEXT: %[[V5:.*]] = tg.cmpeq %x, %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = tg.cmpeq %x, %[[V2]]
// CHECK-NEXT: %[[V7:.*]] = tg.or %[[V6]], %[[V5]]
// CHECK-NEXT: %[[V8:.*]] = tg.const -1.000000e+00
// CHECK-NEXT: %[[V9:.*]] = tg.where %[[V5]], %[[V8]], %[[V1]]
// CHECK-NEXT: %[[V10:.*]] = tg.where %[[V7]], %[[V9]], %x
// CHECK-NEXT: %[[V11:.*]] = tg.where %[[V3]], %[[V1]], %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = tg.reduce mul %[[V11]] [1]
// CHECK-NEXT: %[[V13:.*]] = tg.mul %[[V12]], %r_gradient
// CHECK-NEXT: %[[V14:.*]] = tg.div %[[V13]], %[[V11]]
// CHECK-NEXT: %[[V15:.*]] = tg.cast %[[V7]] to f32
// CHECK-NEXT: %[[V16:.*]] = tg.reduce add %[[V15]] [1]
// CHECK-NEXT: %[[V17:.*]] = tg.cmpne %[[V16]], %[[V15]]
// CHECK-NEXT: %[[V18:.*]] = tg.mul %[[V14]], %[[V2]]
// CHECK-NEXT: %[[V19:.*]] = tg.const nan
// CHECK-NEXT: %[[V20:.*]] = tg.where %[[V17]], %[[V19]], %[[V0]]
// CHECK-NEXT: %[[V21:.*]] = tg.where %[[V17]], %[[V18]], %[[V14]]
// CHECK-NEXT: %[[V22:.*]] = tg.cast %[[V3]] to f32
// CHECK-NEXT: %[[V23:.*]] = tg.reduce add %[[V22]] [1]
// CHECK-NEXT: %[[V24:.*]] = tg.cmpne %[[V23]], %[[V22]]
// CHECK-NEXT: %[[V25:.*]] = tg.where %[[V24]], %[[V20]], %[[V21]]
// CHECK-NEXT: func.return %[[V25]]
func.func @product(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  %r = tg.reduce mul %x [1] : tensor<3x4xf32> -> tensor<3x1xf32>
  func.return %r : tensor<3x1xf32>
}

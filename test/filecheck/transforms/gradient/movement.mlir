// RUN: tg-opt %s -p 'tg-gradient{entry=reshape},tg-gradient{entry=expand},tg-gradient{entry=permute},tg-gradient{entry=flip},tg-gradient{entry=pad},tg-gradient{entry=shrink},tg-gradient{entry=stack},tg-gradient{entry=index},tg-gradient{entry=dynamic}' --verify-each=true | filecheck %s

// The gradients of movements are movements; that of INDEX adds up where cells were read.

// CHECK-LABEL: func.func @reshape_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.reshape %r_gradient [3, 4]
// CHECK-NEXT: func.return %[[V0]]
func.func @reshape(%x: tensor<3x4xf32>) -> tensor<12xf32> {
  %r = tg.reshape %x [12] : tensor<3x4xf32> -> tensor<12xf32>
  func.return %r : tensor<12xf32>
}

// CHECK-LABEL: func.func @expand_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.reduce add %r_gradient [1]
// CHECK-NEXT: func.return %[[V0]]
func.func @expand(%x: tensor<3x1xf32>) -> tensor<3x4xf32> {
  %r = tg.expand %x [3, 4] : tensor<3x1xf32> -> tensor<3x4xf32>
  func.return %r : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @permute_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.permute %r_gradient [1, 2, 0]
// CHECK-NEXT: func.return %[[V0]]
func.func @permute(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  %r = tg.permute %x [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  func.return %r : tensor<4x2x3xf32>
}

// CHECK-LABEL: func.func @flip_gradient(
// CHECK-NEXT: %r = tg.flip %r_gradient [true, false]
// CHECK-NEXT: func.return %r
func.func @flip(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %r = tg.flip %x [true, false] : tensor<3x4xf32>
  func.return %r : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @pad_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.shrink %r_gradient at [1, 0] to [3, 4]
// CHECK-NEXT: func.return %[[V0]]
func.func @pad(%x: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %r = tg.pad %x at [1, 0] to [5, 4] fill 2.0 : f32 : tensor<3x4xf32> -> tensor<5x4xf32>
  func.return %r : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @shrink_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.pad %r_gradient at [1, 0] to [3, 4] fill 0.000000e+00
// CHECK-NEXT: func.return %[[V0]]
func.func @shrink(%x: tensor<3x4xf32>) -> tensor<2x3xf32> {
  %r = tg.shrink %x at [1, 0] to [2, 3] : tensor<3x4xf32> -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @stack_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.shrink %r_gradient at [0, 0] to [1, 4]
// CHECK-NEXT: %[[V1:.*]] = tg.reshape %[[V0]] [4]
// CHECK-NEXT: %[[V2:.*]] = tg.shrink %r_gradient at [1, 0] to [1, 4]
// CHECK-NEXT: %[[V3:.*]] = tg.reshape %[[V2]] [4]
// CHECK-NEXT: func.return %[[V1]], %[[V3]]
func.func @stack(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<2x4xf32> {
  %r = tg.stack %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @index_gradient(
// CHECK: %[[V19:.*]] = tg.cmpeq %{{.*}}, %{{.*}}
// CHECK: %[[V20:.*]] = tg.where %[[V19]], %{{.*}}, %{{.*}}
// CHECK: %[[V21:.*]] = tg.reduce add %[[V20]] [0]
// CHECK: %[[V22:.*]] = tg.reshape %[[V21]] [3, 4]
// CHECK: func.return %[[V22]]
func.func @index(%x: tensor<3x4xf32>, %i: tensor<5xi32>) -> tensor<5x4xf32> {
  %r = tg.index %x[%i] : (tensor<3x4xf32>, tensor<5xi32>) -> tensor<5x4xf32>
  func.return %r : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @dynamic_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.expand %r_gradient [%n]
// CHECK-NEXT: func.return %[[V0]]
func.func @dynamic(%n: tensor<index> {tg.min = 1 : i64, tg.max = 64 : i64}, %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<1xf32> {
  %r = tg.reduce add %x [0] : tensor<?xf32> -> tensor<1xf32>
  func.return %r : tensor<1xf32>
}

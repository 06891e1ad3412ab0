// RUN: tg-opt %s --split-input-file -p tg-reroll{steps=3} | filecheck %s
// RUN: tg-opt %s --split-input-file -p tg-reroll | filecheck %s --check-prefix=FEW

// A step uses the state of the step before, a row of `x`, and `w`. All states are stacked.

// CHECK-LABEL: func.func @stacked
// CHECK:         %[[scan:.*]] = tg.scan(%h, %x, %w) states 1 sequences 1 steps 4 {
// CHECK:           %[[state:.*]] = tg.param 0 : tensor<4xf32>
// CHECK:           tg.param 1 : tensor<4xf32>
// CHECK:           %[[weight:.*]] = tg.param 2 : tensor<4x4xf32>
// CHECK:           tg.mul %[[state]], %[[weight]]
// CHECK:           %[[new:.*]] = tg.add
// CHECK:           tg.tuple %[[new]], %[[new]]
// CHECK:         %[[all:.*]] = tg.gettuple %[[scan]] 1
// CHECK-NEXT:    return %[[all]]
// FEW-LABEL: func.func @stacked
// FEW-NOT:     tg.scan

func.func @stacked(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %h: tensor<4xf32>) -> tensor<4x4xf32> {
  %s0 = tg.shrink %x at [0, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x0 = tg.reshape %s0 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m0 = tg.mul %h, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = tg.reduce add %m0 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v0 = tg.reshape %r0 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h0 = tg.add %x0, %v0 : tensor<4xf32>
  %s1 = tg.shrink %x at [1, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x1 = tg.reshape %s1 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m1 = tg.mul %h0, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = tg.reduce add %m1 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v1 = tg.reshape %r1 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h1 = tg.add %x1, %v1 : tensor<4xf32>
  %s2 = tg.shrink %x at [2, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x2 = tg.reshape %s2 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m2 = tg.mul %h1, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r2 = tg.reduce add %m2 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v2 = tg.reshape %r2 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h2 = tg.add %x2, %v2 : tensor<4xf32>
  %s3 = tg.shrink %x at [3, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x3 = tg.reshape %s3 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m3 = tg.mul %h2, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r3 = tg.reduce add %m3 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v3 = tg.reshape %r3 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h3 = tg.add %x3, %v3 : tensor<4xf32>
  %y = tg.stack %h0, %h1, %h2, %h3 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// From the last row to the first; the last state alone is needed.

// CHECK-LABEL: func.func @reverse
// CHECK:         %[[scan:.*]] = tg.scan(%h, %x, %w) states 1 sequences 1 steps 4 reverse {
// CHECK:           tg.tuple %{{.*}} : tensor<4xf32> ->
// CHECK:         %[[last:.*]] = tg.gettuple %[[scan]] 0
// CHECK-NEXT:    return %[[last]]

func.func @reverse(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %s0 = tg.shrink %x at [3, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x0 = tg.reshape %s0 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m0 = tg.mul %h, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = tg.reduce add %m0 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v0 = tg.reshape %r0 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h0 = tg.add %x0, %v0 : tensor<4xf32>
  %s1 = tg.shrink %x at [2, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x1 = tg.reshape %s1 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m1 = tg.mul %h0, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = tg.reduce add %m1 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v1 = tg.reshape %r1 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h1 = tg.add %x1, %v1 : tensor<4xf32>
  %s2 = tg.shrink %x at [1, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x2 = tg.reshape %s2 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m2 = tg.mul %h1, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r2 = tg.reduce add %m2 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v2 = tg.reshape %r2 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h2 = tg.add %x2, %v2 : tensor<4xf32>
  %s3 = tg.shrink %x at [0, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x3 = tg.reshape %s3 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m3 = tg.mul %h2, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r3 = tg.reduce add %m3 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v3 = tg.reshape %r3 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h3 = tg.add %x3, %v3 : tensor<4xf32>
  return %h3 : tensor<4xf32>
}

// -----

// The first step takes the row that the last one takes: it is left as it is.

// CHECK-LABEL: func.func @peeled
// CHECK:         %[[first:.*]] = tg.add
// CHECK-NEXT:    %[[rows:.*]] = tg.shrink %x at [1, 0] to [3, 4]
// CHECK-NEXT:    tg.scan(%[[first]], %[[rows]], %w) states 1 sequences 1 steps 3 {

func.func @peeled(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %s0 = tg.shrink %x at [3, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x0 = tg.reshape %s0 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m0 = tg.mul %h, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = tg.reduce add %m0 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v0 = tg.reshape %r0 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h0 = tg.add %x0, %v0 : tensor<4xf32>
  %s1 = tg.shrink %x at [1, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x1 = tg.reshape %s1 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m1 = tg.mul %h0, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = tg.reduce add %m1 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v1 = tg.reshape %r1 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h1 = tg.add %x1, %v1 : tensor<4xf32>
  %s2 = tg.shrink %x at [2, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x2 = tg.reshape %s2 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m2 = tg.mul %h1, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r2 = tg.reduce add %m2 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v2 = tg.reshape %r2 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h2 = tg.add %x2, %v2 : tensor<4xf32>
  %s3 = tg.shrink %x at [3, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x3 = tg.reshape %s3 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m3 = tg.mul %h2, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r3 = tg.reduce add %m3 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v3 = tg.reshape %r3 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h3 = tg.add %x3, %v3 : tensor<4xf32>
  return %h3 : tensor<4xf32>
}

// -----

// The result of one step is needed by itself.

// CHECK-LABEL: func.func @row
// CHECK:         %[[scan:.*]] = tg.scan(%h, %x, %w) states 1 sequences 1 steps 4 {
// CHECK:         %[[all:.*]] = tg.gettuple %[[scan]] 1
// CHECK:         %[[part:.*]] = tg.shrink %[[all]] at [1, 0] to [1, 4]
// CHECK:         %[[row:.*]] = tg.reshape %[[part]] [4]
// CHECK:         %[[last:.*]] = tg.gettuple %[[scan]] 0
// CHECK:         return %[[row]], %[[last]]

func.func @row(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s0 = tg.shrink %x at [0, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x0 = tg.reshape %s0 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m0 = tg.mul %h, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = tg.reduce add %m0 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v0 = tg.reshape %r0 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h0 = tg.add %x0, %v0 : tensor<4xf32>
  %s1 = tg.shrink %x at [1, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x1 = tg.reshape %s1 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m1 = tg.mul %h0, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = tg.reduce add %m1 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v1 = tg.reshape %r1 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h1 = tg.add %x1, %v1 : tensor<4xf32>
  %s2 = tg.shrink %x at [2, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x2 = tg.reshape %s2 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m2 = tg.mul %h1, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r2 = tg.reduce add %m2 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v2 = tg.reshape %r2 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h2 = tg.add %x2, %v2 : tensor<4xf32>
  %s3 = tg.shrink %x at [3, 0] to [1, 4] : tensor<4x4xf32> -> tensor<1x4xf32>
  %x3 = tg.reshape %s3 [4] : tensor<1x4xf32> -> tensor<4xf32>
  %m3 = tg.mul %h2, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r3 = tg.reduce add %m3 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v3 = tg.reshape %r3 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h3 = tg.add %x3, %v3 : tensor<4xf32>
  return %h1, %h3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A step uses the states of the two steps before.

// CHECK-LABEL: func.func @second_order
// CHECK:         tg.scan(%b, %a, %w) states 2 sequences 0 steps 5 {
// CHECK:           %[[one:.*]] = tg.param 0 : tensor<4xf32>
// CHECK:           %[[two:.*]] = tg.param 1 : tensor<4xf32>
// CHECK:           %[[new:.*]] = tg.add %{{.*}}, %[[two]]
// CHECK:           tg.tuple %[[new]], %[[one]]

func.func @second_order(%w: tensor<4x4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %m0 = tg.mul %b, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = tg.reduce add %m0 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v0 = tg.reshape %r0 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h0 = tg.add %v0, %a : tensor<4xf32>
  %m1 = tg.mul %h0, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = tg.reduce add %m1 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v1 = tg.reshape %r1 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h1 = tg.add %v1, %b : tensor<4xf32>
  %m2 = tg.mul %h1, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r2 = tg.reduce add %m2 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v2 = tg.reshape %r2 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h2 = tg.add %v2, %h0 : tensor<4xf32>
  %m3 = tg.mul %h2, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r3 = tg.reduce add %m3 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v3 = tg.reshape %r3 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h3 = tg.add %v3, %h1 : tensor<4xf32>
  %m4 = tg.mul %h3, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r4 = tg.reduce add %m4 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v4 = tg.reshape %r4 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h4 = tg.add %v4, %h2 : tensor<4xf32>
  return %h4 : tensor<4xf32>
}

// -----

// Every second column

// CHECK-LABEL: func.func @strided
// CHECK:         tg.pad
// CHECK:         tg.scan(%h, %{{.*}}, %w) states 1 sequences 1 steps 4 {

func.func @strided(%x: tensor<4x7xf32>, %w: tensor<4x4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %s0 = tg.shrink %x at [0, 0] to [4, 1] : tensor<4x7xf32> -> tensor<4x1xf32>
  %x0 = tg.reshape %s0 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %m0 = tg.mul %h, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = tg.reduce add %m0 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v0 = tg.reshape %r0 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h0 = tg.add %x0, %v0 : tensor<4xf32>
  %s1 = tg.shrink %x at [0, 2] to [4, 1] : tensor<4x7xf32> -> tensor<4x1xf32>
  %x1 = tg.reshape %s1 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %m1 = tg.mul %h0, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = tg.reduce add %m1 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v1 = tg.reshape %r1 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h1 = tg.add %x1, %v1 : tensor<4xf32>
  %s2 = tg.shrink %x at [0, 4] to [4, 1] : tensor<4x7xf32> -> tensor<4x1xf32>
  %x2 = tg.reshape %s2 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %m2 = tg.mul %h1, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r2 = tg.reduce add %m2 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v2 = tg.reshape %r2 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h2 = tg.add %x2, %v2 : tensor<4xf32>
  %s3 = tg.shrink %x at [0, 6] to [4, 1] : tensor<4x7xf32> -> tensor<4x1xf32>
  %x3 = tg.reshape %s3 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %m3 = tg.mul %h2, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r3 = tg.reduce add %m3 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v3 = tg.reshape %r3 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h3 = tg.add %x3, %v3 : tensor<4xf32>
  return %h3 : tensor<4xf32>
}

// RUN: tg-opt %s -p tg-callify,tg-rangeify --split-input-file | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=nvidia:sm_80}' --split-input-file | filecheck %s --check-prefix=GRID

// The maximum of a softmax may be relaxed, where the processor has no instruction for an exact one:
// each use of an exponential is divided by the sum of all, which is NaN if one is.

// CHECK: tg.reduce max {{.*}} relaxed
// GRID-NOT: relaxed
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %max = tg.reduce max %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %shift = tg.expand %max [4, 8] : tensor<4x1xf32> -> tensor<4x8xf32>
  %d = tg.sub %x, %shift : tensor<4x8xf32>
  %e = tg.exp %d : tensor<4x8xf32>
  %sum = tg.reduce add %e [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %inverse = tg.recip %sum : tensor<4x1xf32>
  %y = tg.mul %e, %inverse : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A result shows the exponentials as they are.
// CHECK-NOT: relaxed
func.func @exponentials(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>) {
  %max = tg.reduce max %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %d = tg.sub %x, %max : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %e = tg.exp %d : tensor<4x8xf32>
  %sum = tg.reduce add %e [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  return %e, %sum : tensor<4x8xf32>, tensor<4x1xf32>
}

// -----

// The sums are along another axis than the maxima: a row of numbers may have a column with a NaN.
// CHECK-NOT: relaxed
func.func @other_axis(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %max = tg.reduce max %x [1] : tensor<8x8xf32> -> tensor<8x1xf32>
  %d = tg.sub %x, %max : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %e = tg.exp %d : tensor<8x8xf32>
  %sum = tg.reduce add %e [0] : tensor<8x8xf32> -> tensor<1x8xf32>
  %inverse = tg.recip %sum : tensor<1x8xf32>
  %y = tg.mul %e, %inverse : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// The maximum is a result as well.
// CHECK-NOT: relaxed
func.func @maximum(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %max = tg.reduce max %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  %d = tg.sub %x, %max : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %e = tg.exp %d : tensor<4x8xf32>
  %sum = tg.reduce add %e [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  return %max, %sum : tensor<4x1xf32>, tensor<4x1xf32>
}

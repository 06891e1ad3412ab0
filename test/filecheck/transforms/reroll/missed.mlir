// RUN: tg-opt %s --split-input-file -p tg-reroll{steps=3} | filecheck %s
// RUN: tg-opt %s --split-input-file --mlir-print-remarks -p tg-reroll{steps=3} 2>&1 >/dev/null | filecheck %s --check-prefix=WHY

// Steps that stay as they are, and why.

// CHECK-NOT: tg.scan

// WHY: no loop: too few steps are alike

// Layers have weights of their own.

func.func @layers(%h: tensor<4xf32>, %w0: tensor<4x4xf32>, %w1: tensor<4x4xf32>, %w2: tensor<4x4xf32>, %w3: tensor<4x4xf32>) -> tensor<4xf32> {
  %m0 = tg.mul %h, %w0 : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = tg.reduce add %m0 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %h0 = tg.reshape %r0 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %m1 = tg.mul %h0, %w1 : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = tg.reduce add %m1 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %h1 = tg.reshape %r1 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %m2 = tg.mul %h1, %w2 : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r2 = tg.reduce add %m2 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %h2 = tg.reshape %r2 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %m3 = tg.mul %h2, %w3 : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r3 = tg.reduce add %m3 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %h3 = tg.reshape %r3 [4] : tensor<4x1xf32> -> tensor<4xf32>
  return %h3 : tensor<4xf32>
}

// -----

// WHY: no loop: steps of 2 ops without a reduction are fused

// Small steps without reductions are one kernel.

func.func @elementwise(%h: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %m0 = tg.mul %h, %h : tensor<4xf32>
  %h0 = tg.add %m0, %w : tensor<4xf32>
  %m1 = tg.mul %h0, %h0 : tensor<4xf32>
  %h1 = tg.add %m1, %w : tensor<4xf32>
  %m2 = tg.mul %h1, %h1 : tensor<4xf32>
  %h2 = tg.add %m2, %w : tensor<4xf32>
  %m3 = tg.mul %h2, %h2 : tensor<4xf32>
  %h3 = tg.add %m3, %w : tensor<4xf32>
  return %h3 : tensor<4xf32>
}

// -----

// WHY: no loop: steps take parts that overlap, or that move along several axes

func.func @overlapping(%x: tensor<8xf32>, %w: tensor<4x4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
  %x0 = tg.shrink %x at [0] to [4] : tensor<8xf32> -> tensor<4xf32>
  %m0 = tg.mul %h, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r0 = tg.reduce add %m0 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v0 = tg.reshape %r0 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h0 = tg.add %x0, %v0 : tensor<4xf32>
  %x1 = tg.shrink %x at [1] to [4] : tensor<8xf32> -> tensor<4xf32>
  %m1 = tg.mul %h0, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r1 = tg.reduce add %m1 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v1 = tg.reshape %r1 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h1 = tg.add %x1, %v1 : tensor<4xf32>
  %x2 = tg.shrink %x at [2] to [4] : tensor<8xf32> -> tensor<4xf32>
  %m2 = tg.mul %h1, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r2 = tg.reduce add %m2 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v2 = tg.reshape %r2 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h2 = tg.add %x2, %v2 : tensor<4xf32>
  %x3 = tg.shrink %x at [3] to [4] : tensor<8xf32> -> tensor<4xf32>
  %m3 = tg.mul %h2, %w : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r3 = tg.reduce add %m3 [1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %v3 = tg.reshape %r3 [4] : tensor<4x1xf32> -> tensor<4xf32>
  %h3 = tg.add %x3, %v3 : tensor<4xf32>
  return %h3 : tensor<4xf32>
}

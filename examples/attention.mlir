// Scaled dot-product attention: softmax(Q @ K^T / sqrt(d)) @ V, for H heads of S positions of d
// features. Here H = 2, S = 3, d = 4.

// RUN: tg-run %s --target=interpreter --digits=3 --input 2x3x4xf32=0 --input 2x3x4xf32=1 --arg v=1,2,3,4,5,6,7,8,9,10,11,12,0,0,0,0,3,3,3,3,6,6,6,6 | filecheck %s
// RUN: tg-run %s --target=cpu --digits=3 --input 2x3x4xf32=0 --input 2x3x4xf32=1 --arg v=1,2,3,4,5,6,7,8,9,10,11,12,0,0,0,0,3,3,3,3,6,6,6,6 | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// With Q = 0 every position attends to every position alike: the mean of V over the positions.
// CHECK: dense<{{\[\[\[}}5.0, 6.0, 7.0, 8.0], [5.0, 6.0, 7.0, 8.0], [5.0, 6.0, 7.0, 8.0]],
// CHECK-SAME: {{\[\[}}3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0]]]> : tensor<2x3x4xf32>

// RUN: tg-run %s --target=interpreter --digits=3 --arg q=1,0,0,0,0,2,0,0,0,0,3,0,0,0,0,4,1,1,0,0,0,0,1,1 --arg k=1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1,0,0,0,1,0,0,1,0 --arg v=1,0,0,0,0,1,0,0,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1,0 | filecheck %s --check-prefix=MIXED
// RUN: tg-run %s --target=cpu --digits=3 --arg q=1,0,0,0,0,2,0,0,0,0,3,0,0,0,0,4,1,1,0,0,0,0,1,1 --arg k=1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1,0,0,0,1,0,0,1,0 --arg v=1,0,0,0,0,1,0,0,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1,0 | filecheck %s --check-prefix=MIXED
// MIXED: dense<{{\[\[\[}}0.452, 0.274, 0.274, 0.0], [0.212, 0.576, 0.212, 0.0], [0.154, 0.154, 0.691, 0.0]],
// MIXED-SAME: {{\[\[}}0.468, 0.468, 0.0634, 0.0], [0.333, 0.333, 0.333, 0.0], [0.333, 0.333, 0.333, 0.0]]]> : tensor<2x3x4xf32>

func.func @main(%q: tensor<2x3x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // scores[h, i, j] = sum over d of Q[h, i, d] K[h, j, d] / sqrt(d)
  %scale = tg.const 0.5 : tensor<f32>
  %kt = tg.permute %k [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  %q_columns = tg.reshape %q [2, 3, 4, 1] : tensor<2x3x4xf32> -> tensor<2x3x4x1xf32>
  %k_rows = tg.reshape %kt [2, 1, 4, 3] : tensor<2x4x3xf32> -> tensor<2x1x4x3xf32>
  %qk = tg.mul %q_columns, %k_rows : (tensor<2x3x4x1xf32>, tensor<2x1x4x3xf32>) -> tensor<2x3x4x3xf32>
  %dots = tg.reduce add %qk [2] : tensor<2x3x4x3xf32> -> tensor<2x3x1x3xf32>
  %logits = tg.reshape %dots [2, 3, 3] : tensor<2x3x1x3xf32> -> tensor<2x3x3xf32>
  %scores = tg.mul %logits, %scale : (tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x3x3xf32>

  // softmax over j
  %log2_e = tg.const 1.44269504 : tensor<f32>
  %max = tg.reduce max %scores [2] : tensor<2x3x3xf32> -> tensor<2x3x1xf32>
  %shifted = tg.sub %scores, %max : (tensor<2x3x3xf32>, tensor<2x3x1xf32>) -> tensor<2x3x3xf32>
  %exponents = tg.mul %shifted, %log2_e : (tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x3x3xf32>
  %e = tg.exp2 %exponents : tensor<2x3x3xf32>
  %sum = tg.reduce add %e [2] : tensor<2x3x3xf32> -> tensor<2x3x1xf32>
  %weights = tg.div %e, %sum : (tensor<2x3x3xf32>, tensor<2x3x1xf32>) -> tensor<2x3x3xf32>

  // out[h, i, d] = sum over j of weights[h, i, j] V[h, j, d]
  %w_columns = tg.reshape %weights [2, 3, 3, 1] : tensor<2x3x3xf32> -> tensor<2x3x3x1xf32>
  %v_rows = tg.reshape %v [2, 1, 3, 4] : tensor<2x3x4xf32> -> tensor<2x1x3x4xf32>
  %wv = tg.mul %w_columns, %v_rows : (tensor<2x3x3x1xf32>, tensor<2x1x3x4xf32>) -> tensor<2x3x3x4xf32>
  %mixed = tg.reduce add %wv [2] : tensor<2x3x3x4xf32> -> tensor<2x3x1x4xf32>
  %result = tg.reshape %mixed [2, 3, 4] : tensor<2x3x1x4xf32> -> tensor<2x3x4xf32>
  return %result : tensor<2x3x4xf32>
}

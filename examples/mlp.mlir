// Two layers of a perceptron: max(X @ W1 + b1, 0) @ W2 + b2.

// RUN: tg-run %s --target=interpreter --input 2x3xf32=1,2,3,-1,0,1 --input 3x2xf32=1,0,0,1,1,-1 --input 2xf32=0.5,-0.5 --input 2x2xf32=2,1,0,3 --input 2xf32=0,1 | filecheck %s
// RUN: tg-run %s --target=cpu --input 2x3xf32=1,2,3,-1,0,1 --input 3x2xf32=1,0,0,1,1,-1 --input 2xf32=0.5,-0.5 --input 2x2xf32=2,1,0,3 --input 2xf32=0,1 | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<{{\[\[}}9.0, 5.5], [1.0, 1.5]]> : tensor<2x2xf32>

func.func @main(
    %x: tensor<2x3xf32>,
    %w1: tensor<3x2xf32>, %b1: tensor<2xf32>,
    %w2: tensor<2x2xf32>, %b2: tensor<2xf32>) -> tensor<2x2xf32> {
  %x1 = tg.reshape %x [2, 3, 1] : tensor<2x3xf32> -> tensor<2x3x1xf32>
  %w1_rows = tg.reshape %w1 [1, 3, 2] : tensor<3x2xf32> -> tensor<1x3x2xf32>
  %products1 = tg.mul %x1, %w1_rows : (tensor<2x3x1xf32>, tensor<1x3x2xf32>) -> tensor<2x3x2xf32>
  %sums1 = tg.reduce add %products1 [1] : tensor<2x3x2xf32> -> tensor<2x1x2xf32>
  %linear1 = tg.reshape %sums1 [2, 2] : tensor<2x1x2xf32> -> tensor<2x2xf32>
  %biased = tg.add %linear1, %b1 : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>

  %zero = tg.const 0.0 : tensor<f32>
  %hidden = tg.max %biased, %zero : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>

  %x2 = tg.reshape %hidden [2, 2, 1] : tensor<2x2xf32> -> tensor<2x2x1xf32>
  %w2_rows = tg.reshape %w2 [1, 2, 2] : tensor<2x2xf32> -> tensor<1x2x2xf32>
  %products2 = tg.mul %x2, %w2_rows : (tensor<2x2x1xf32>, tensor<1x2x2xf32>) -> tensor<2x2x2xf32>
  %sums2 = tg.reduce add %products2 [1] : tensor<2x2x2xf32> -> tensor<2x1x2xf32>
  %linear2 = tg.reshape %sums2 [2, 2] : tensor<2x1x2xf32> -> tensor<2x2xf32>
  %result = tg.add %linear2, %b2 : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}

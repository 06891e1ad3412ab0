// Softmax over the last axis: e / sum(e) for e = exp(x - max(x)), where exp(y) = 2^(y log2(e)).
//
// The maximum keeps the exponentials in [0, 1].

// RUN: tg-run %s --target=interpreter --digits=4 --input '2x4xf32=0,1,2,3,-1,1000,0.5,1000' | filecheck %s
// RUN: tg-run %s --target=cpu --digits=4 --input '2x4xf32=0,1,2,3,-1,1000,0.5,1000' | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<{{\[\[}}0.03206, 0.08714, 0.2369, 0.6439], [0.0, 0.5, 0.0, 0.5]]> : tensor<2x4xf32>

func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %log2_e = tg.const 1.44269504 : tensor<f32>
  %max = tg.reduce max %x [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %shifted = tg.sub %x, %max : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %exponents = tg.mul %shifted, %log2_e : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %e = tg.exp2 %exponents : tensor<2x4xf32>
  %sum = tg.reduce add %e [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %result = tg.div %e, %sum : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %result : tensor<2x4xf32>
}

// A matrix product: C[M, N] = A[M, K] @ B[K, N].
//
// The specification: (A.reshape(M, K, 1) * B.reshape(1, K, N)).sum(1). The sum is a REDUCE, which
// leaves an axis of 1, and a RESHAPE, which takes it out.

// RUN: tg-run %s --target=interpreter --input 2x3xf32=1,2,3,4,5,6 --input 3x4xf32=1,0,2,-1,0,1,0,3,1,1,0.5,0 | filecheck %s
// RUN: tg-run %s --target=cpu --input 2x3xf32=1,2,3,4,5,6 --input 3x4xf32=1,0,2,-1,0,1,0,3,1,1,0.5,0 | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<{{\[\[}}4.0, 5.0, 3.5, 5.0], [10.0, 11.0, 11.0, 11.0]]> : tensor<2x4xf32>

func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %columns = tg.reshape %a [2, 3, 1] : tensor<2x3xf32> -> tensor<2x3x1xf32>
  %rows = tg.reshape %b [1, 3, 4] : tensor<3x4xf32> -> tensor<1x3x4xf32>
  %products = tg.mul %columns, %rows : (tensor<2x3x1xf32>, tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
  %sums = tg.reduce add %products [1] : tensor<2x3x4xf32> -> tensor<2x1x4xf32>
  %c = tg.reshape %sums [2, 4] : tensor<2x1x4xf32> -> tensor<2x4xf32>
  return %c : tensor<2x4xf32>
}

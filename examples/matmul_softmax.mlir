// A matrix product with a softmax over its rows: softmax(A @ B), 256 x 512 by 512 x 128.
//
//   python examples/inputs.py examples/matmul_softmax.mlir -d /tmp/inputs
//   tg-run examples/matmul_softmax.mlir --input /tmp/inputs/a.npy --input /tmp/inputs/b.npy --benchmark

// Equal rows of B^T make every column alike: 1 / 128.
// RUN: tg-run %s --target=interpreter --input 256x512xf32=random --input 512x128xf32=0.5 | filecheck %s
// RUN: tg-run %s --target=cpu --input 256x512xf32=random --input 512x128xf32=0.5 | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<{{\[\[}}0.0078125, 0.0078125, 0.0078125, ..., {{.*}}, 0.0078125]]> : tensor<256x128xf32>

func.func @main(%a: tensor<256x512xf32>, %b: tensor<512x128xf32>) -> tensor<256x128xf32> {
  %columns = tg.reshape %a [256, 512, 1] : tensor<256x512xf32> -> tensor<256x512x1xf32>
  %rows = tg.reshape %b [1, 512, 128] : tensor<512x128xf32> -> tensor<1x512x128xf32>
  %products = tg.mul %columns, %rows : (tensor<256x512x1xf32>, tensor<1x512x128xf32>) -> tensor<256x512x128xf32>
  %dots = tg.reduce add %products [1] : tensor<256x512x128xf32> -> tensor<256x1x128xf32>
  %scores = tg.reshape %dots [256, 128] : tensor<256x1x128xf32> -> tensor<256x128xf32>

  %log2_e = tg.const 1.44269504 : tensor<f32>
  %max = tg.reduce max %scores [1] : tensor<256x128xf32> -> tensor<256x1xf32>
  %shifted = tg.sub %scores, %max : (tensor<256x128xf32>, tensor<256x1xf32>) -> tensor<256x128xf32>
  %exponents = tg.mul %shifted, %log2_e : (tensor<256x128xf32>, tensor<f32>) -> tensor<256x128xf32>
  %e = tg.exp2 %exponents : tensor<256x128xf32>
  %sum = tg.reduce add %e [1] : tensor<256x128xf32> -> tensor<256x1xf32>
  %result = tg.div %e, %sum : (tensor<256x128xf32>, tensor<256x1xf32>) -> tensor<256x128xf32>
  return %result : tensor<256x128xf32>
}

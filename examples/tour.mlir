// The program of docs/tour.md, a softmax of a matrix product: softmax(A @ B), 4 x 2 by 2 x 8.
//
// The module says which machine it is compiled for.
//
// Equal columns of B make all scores of a row equal: 1 / 8.
// RUN: tg-run %s --target=interpreter --input 4x2xf32=random --input 2x8xf32=0.5 | filecheck %s
// RUN: tg-run %s --target=cpu --input 4x2xf32=random --input 2x8xf32=0.5 | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<{{\[\[}}0.125, 0.125, {{.*}}, 0.125]]> : tensor<4x8xf32>

module attributes {tg.target = #tg.target<"cpu", features = ["avx2", "fma"]>} {
  func.func @main(%a: tensor<4x2xf32>, %b: tensor<2x8xf32>) -> tensor<4x8xf32> {
    %columns = tg.reshape %a [4, 2, 1] : tensor<4x2xf32> -> tensor<4x2x1xf32>
    %rows = tg.reshape %b [1, 2, 8] : tensor<2x8xf32> -> tensor<1x2x8xf32>
    %products = tg.mul %columns, %rows : (tensor<4x2x1xf32>, tensor<1x2x8xf32>) -> tensor<4x2x8xf32>
    %dots = tg.reduce add %products [1] : tensor<4x2x8xf32> -> tensor<4x1x8xf32>
    %scores = tg.reshape %dots [4, 8] : tensor<4x1x8xf32> -> tensor<4x8xf32>

    %log2_e = tg.const 1.44269504 : tensor<f32>
    %max = tg.reduce max %scores [1] : tensor<4x8xf32> -> tensor<4x1xf32>
    %shifted = tg.sub %scores, %max : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    %exponents = tg.mul %shifted, %log2_e : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %e = tg.exp2 %exponents : tensor<4x8xf32>
    %sum = tg.reduce add %e [1] : tensor<4x8xf32> -> tensor<4x1xf32>
    %result = tg.div %e, %sum : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    return %result : tensor<4x8xf32>
  }
}

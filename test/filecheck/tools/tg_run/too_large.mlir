// RUN: not tg-run %s --target interpreter --input 1000x1x1000xf32=1 --input 1x1000x1000xf32=1 2>&1 | filecheck %s

// A product of matrices without fusion has as many cells as multiplications.

// CHECK: too_large.mlir:7:8: error: tg.mul of 1000000000 elements: the interpreter computes at most 134217728 at once
func.func @f(%a: tensor<1000x1x1000xf32>, %b: tensor<1x1000x1000xf32>) -> tensor<1000x1000x1xf32> {
  %0 = tg.mul %a, %b : (tensor<1000x1x1000xf32>, tensor<1x1000x1000xf32>) -> tensor<1000x1000x1000xf32>
  %1 = tg.reduce add %0 [2] : tensor<1000x1000x1000xf32> -> tensor<1000x1000x1xf32>
  func.return %1 : tensor<1000x1000x1xf32>
}

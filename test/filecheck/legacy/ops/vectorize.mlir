// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<f32>, %y: tensor<f32>) {
  // CHECK: %0 = tg_legacy.vectorize %x, %y : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  // GENERIC: %0 = "tg_legacy.vectorize"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  %0 = tg_legacy.vectorize %x, %y : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: %1 = tg_legacy.vectorize %x : tensor<f32> -> tensor<1xf32>
  // GENERIC: %1 = "tg_legacy.vectorize"(%x) : (tensor<f32>) -> tensor<1xf32>
  %1 = tg_legacy.vectorize %x : tensor<f32> -> tensor<1xf32>
  // CHECK: %2 = tg_legacy.vectorize %x, %x, %x, %x : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  // GENERIC: %2 = "tg_legacy.vectorize"(%x, %x, %x, %x) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %2 = tg_legacy.vectorize %x, %x, %x, %x : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  func.return
}

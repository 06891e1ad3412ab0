// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4xf32>) {
  // CHECK: %0 = tg_legacy.gep %x [3] : tensor<4xf32> -> tensor<f32>
  // GENERIC: %0 = "tg_legacy.gep"(%x) <{lanes = array<i64: 3>}> : (tensor<4xf32>) -> tensor<f32>
  %0 = tg_legacy.gep %x [3] : tensor<4xf32> -> tensor<f32>
  // CHECK: %1 = tg_legacy.gep %x [2, 0] : tensor<4xf32> -> tensor<2xf32>
  // GENERIC: %1 = "tg_legacy.gep"(%x) <{lanes = array<i64: 2, 0>}> : (tensor<4xf32>) -> tensor<2xf32>
  %1 = tg_legacy.gep %x [2, 0] : tensor<4xf32> -> tensor<2xf32>
  // CHECK: %2 = tg_legacy.gep %x [1, 1, 1, 1] : tensor<4xf32>
  // GENERIC: %2 = "tg_legacy.gep"(%x) <{lanes = array<i64: 1, 1, 1, 1>}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tg_legacy.gep %x [1, 1, 1, 1] : tensor<4xf32>
  func.return
}

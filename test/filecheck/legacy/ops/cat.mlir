// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<2xf32>, %y: tensor<4xf32>) {
  // CHECK: %0 = tg_legacy.cat %x, %y : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  // GENERIC: %0 = "tg_legacy.cat"(%x, %y) : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  %0 = tg_legacy.cat %x, %y : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  // CHECK: %1 = tg_legacy.cat %x, %x, %x : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>
  // GENERIC: %1 = "tg_legacy.cat"(%x, %x, %x) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>
  %1 = tg_legacy.cat %x, %x, %x : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>
  // CHECK: %2 = tg_legacy.cat %x : tensor<2xf32>
  // GENERIC: %2 = "tg_legacy.cat"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = tg_legacy.cat %x : tensor<2xf32>
  func.return
}

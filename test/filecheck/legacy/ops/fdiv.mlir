// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<f32>, %y: tensor<4x1xf16>, %z: tensor<3xf16>) {
  // CHECK: %0 = tg_legacy.fdiv %x, %x : tensor<f32>
  // GENERIC: %0 = "tg_legacy.fdiv"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %0 = tg_legacy.fdiv %x, %x : tensor<f32>
  // CHECK: %1 = tg_legacy.fdiv %y, %z : (tensor<4x1xf16>, tensor<3xf16>) -> tensor<4x3xf16>
  // GENERIC: %1 = "tg_legacy.fdiv"(%y, %z) : (tensor<4x1xf16>, tensor<3xf16>) -> tensor<4x3xf16>
  %1 = tg_legacy.fdiv %y, %z : (tensor<4x1xf16>, tensor<3xf16>) -> tensor<4x3xf16>
  func.return
}

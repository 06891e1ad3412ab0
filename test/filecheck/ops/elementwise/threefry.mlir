// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%a: tensor<4xui64>, %k: tensor<ui64>) {
  // CHECK: %r = tg.threefry %a, %k : (tensor<4xui64>, tensor<ui64>) -> tensor<4xui64>
  // GENERIC: %r = "tg.threefry"(%a, %k) : (tensor<4xui64>, tensor<ui64>) -> tensor<4xui64>
  %r = tg.threefry %a, %k : (tensor<4xui64>, tensor<ui64>) -> tensor<4xui64>
  // CHECK: %s = tg.threefry %k, %k : tensor<ui64>
  // GENERIC: %s = "tg.threefry"(%k, %k) : (tensor<ui64>, tensor<ui64>) -> tensor<ui64>
  %s = tg.threefry %k, %k : tensor<ui64>
  func.return
}

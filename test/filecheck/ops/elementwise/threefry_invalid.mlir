// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xi64>) {
  // expected-error@below {{tg.threefry is defined on ui64, not i64}}
  %0 = tg.threefry %a, %a : tensor<4xi64>
  func.return
}

// -----

func.func @f(%a: tensor<4xui64>, %b: tensor<ui32>) {
  // expected-error@below {{tg.threefry is defined on ui64, not ui32}}
  %0 = tg.threefry %a, %b : (tensor<4xui64>, tensor<ui32>) -> tensor<4xui64>
  func.return
}

// -----

func.func @f(%a: tensor<4xui64>) {
  // expected-error@below {{the result type is written as tensor<4xui32>, but the op gives tensor<4xui64>}}
  %0 = tg.threefry %a, %a : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xui32>
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%p: tensor<i1>) {
  // expected-error@below {{tg.mulacc is defined on integers and floats, not i1}}
  %0 = tg.mulacc %p, %p, %p : tensor<i1>
  func.return
}

// -----

func.func @f(%a: tensor<f16>, %b: tensor<f32>) {
  // expected-error@below {{operands have different dtypes: f16 and f16 and f32}}
  %0 = tg.mulacc %a, %a, %b : (tensor<f16>, tensor<f16>, tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@below {{axis 0: 2 and 3 do not broadcast}}
  %0 = tg.mulacc %a, %a, %b : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error@below {{the result type is written as tensor<1xf32>, but the op gives tensor<2xf32>}}
  %0 = tg.mulacc %a, %a, %a : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1xf32>
  func.return
}

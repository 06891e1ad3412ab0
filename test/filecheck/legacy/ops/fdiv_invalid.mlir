// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{tg_legacy.fdiv is defined on floats, not i32}}
  %0 = tg_legacy.fdiv %x, %x : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>, %y: tensor<f64>) {
  // expected-error@below {{operands have different dtypes: f32 and f64}}
  %0 = tg_legacy.fdiv %x, %y : (tensor<f32>, tensor<f64>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@below {{axis 0: 4 and 3 do not broadcast}}
  %0 = tg_legacy.fdiv %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{the result type is written as tensor<f64>, but the op gives tensor<f32>}}
  %0 = tg_legacy.fdiv %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f64>
  func.return
}

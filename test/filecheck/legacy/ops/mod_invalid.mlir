// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{tg_legacy.mod is defined on integers, not f32}}
  %0 = tg_legacy.mod %x, %x : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>, %y: tensor<ui32>) {
  // expected-error@below {{operands have different dtypes: i32 and ui32}}
  %0 = tg_legacy.mod %x, %y : (tensor<i32>, tensor<ui32>) -> tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi32>, %y: tensor<3xi32>) {
  // expected-error@below {{axis 0: 4 and 3 do not broadcast}}
  %0 = tg_legacy.mod %x, %y : (tensor<4xi32>, tensor<3xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{the result type is written as tensor<i64>, but the op gives tensor<i32>}}
  %0 = tg_legacy.mod %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i64>
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{tg_legacy.idiv is defined on integers, not f32}}
  %0 = tg_legacy.idiv %x, %x : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<i1>) {
  // expected-error@below {{tg_legacy.idiv is defined on integers, not i1}}
  %0 = tg_legacy.idiv %x, %x : tensor<i1>
  func.return
}

// -----

func.func @f(%x: tensor<i32>, %y: tensor<i64>) {
  // expected-error@below {{operands have different dtypes: i32 and i64}}
  %0 = tg_legacy.idiv %x, %y : (tensor<i32>, tensor<i64>) -> tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi32>, %y: tensor<3xi32>) {
  // expected-error@below {{axis 0: 4 and 3 do not broadcast}}
  %0 = tg_legacy.idiv %x, %y : (tensor<4xi32>, tensor<3xi32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<i32, #tg.place<"A">>, %y: tensor<i32, #tg.place<"B">>) {
  // expected-error@below {{operands are on different devices: A and B}}
  %0 = tg_legacy.idiv %x, %y : (tensor<i32, #tg.place<"A">>, tensor<i32, #tg.place<"B">>) -> tensor<i32, #tg.place<"A">>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{Expected 2 operand types, but got 1}}
  %0 = tg_legacy.idiv %x, %x : tensor<i32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{the result type is written as tensor<f32>, but the op gives tensor<i32>}}
  %0 = tg_legacy.idiv %x, %x : (tensor<i32>, tensor<i32>) -> tensor<f32>
  func.return
}

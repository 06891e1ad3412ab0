// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xi32>) {
  // expected-error@below {{tg.lgamma is defined on floats, not i32}}
  %0 = tg.lgamma %x, %x : tensor<4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error@below {{tg.lgamma is defined on floats, not i1}}
  %0 = tg.lgamma %x, %x : tensor<4xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error@below {{operands have different dtypes: f32 and f16}}
  %0 = tg.lgamma %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4xf32>) {
  // expected-error@below {{axis 1: 3 and 4 do not broadcast}}
  %0 = tg.lgamma %a, %b : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

func.func @f() {
  %n = tg.param 0 : tensor<index>
  %m = tg.param 1 : tensor<index>
  %a = tg.param 2 (%n) : tensor<?xf32>
  %b = tg.param 3 (%m) : tensor<?xf32>
  // expected-error@below {{axis 0: %n and %m do not broadcast}}
  %0 = tg.lgamma %a, %b : tensor<?xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32, #tg.place<"A">>, %b: tensor<4xf32, #tg.place<"B">>) {
  // expected-error@below {{operands are on different devices: A and B}}
  %0 = tg.lgamma %a, %b : (tensor<4xf32, #tg.place<"A">>, tensor<4xf32, #tg.place<"B">>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>, %b: tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{operands are sharded on different axes: 0 and 1}}
  %0 = tg.lgamma %a, %b : (tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%a: tensor<4x1xf32>, %b: tensor<3xf32>) {
  // expected-error@below {{the result type is written as tensor<4xf32>, but the op gives tensor<4x3xf32>}}
  %0 = tg.lgamma %a, %b : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4xf32>
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error@below {{operands have different shapes: 4 and 5}}
  %0 = tg.stack %a, %b : (tensor<4xf32>, tensor<5xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error@below {{operands have different dtypes: f32 and f16}}
  %0 = tg.stack %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<2x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32, #tg.place<"CPU">>, %b: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{operands are on different devices: CPU and [A, B]}}
  %0 = tg.stack %a, %b : (tensor<4xf32, #tg.place<"CPU">>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%a: tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>, %b: tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{operands are sharded on different axes: 0 and 1}}
  %0 = tg.stack %a, %b : (tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<2x4x4xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{stack needs at least one operand}}
  %0 = "tg.stack"() : () -> tensor<0xf32>
  func.return
}

// -----

func.func @f() {
  %n = tg.param 0 : tensor<index>
  %m = tg.param 1 : tensor<index>
  %a = tg.param 2 (%n) : tensor<?xf32>
  %b = tg.param 3 (%m) : tensor<?xf32>
  // expected-error@below {{operands have different shapes: %n and %m}}
  %0 = tg.stack %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<2x?xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@below {{the result type is written as tensor<8xf32>, but the op gives tensor<2x4xf32>}}
  %0 = tg.stack %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  func.return
}

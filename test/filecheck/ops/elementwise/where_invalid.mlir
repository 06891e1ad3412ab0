// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%p: tensor<i32>) {
  // expected-error@below {{tg.where is defined on bool, not i32}}
  %0 = tg.where %p, %p, %p : tensor<i32>
  func.return
}

// -----

func.func @f(%p: tensor<i1>, %a: tensor<f32>, %b: tensor<f16>) {
  // expected-error@below {{operands have different dtypes: f32 and f16}}
  %0 = tg.where %p, %a, %b : (tensor<i1>, tensor<f32>, tensor<f16>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%p: tensor<2xi1>, %a: tensor<3xf32>) {
  // expected-error@below {{axis 0: 2 and 3 do not broadcast}}
  %0 = tg.where %p, %a, %a : (tensor<2xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%p: tensor<i1>, %a: tensor<4xf32, #tg.place<"CPU">>, %b: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{operands are on different devices: CPU and [A, B]}}
  %0 = tg.where %p, %a, %b : (tensor<i1>, tensor<4xf32, #tg.place<"CPU">>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%p: tensor<4xi1, #tg.place<"CPU">>, %a: tensor<4xf32, #tg.place<"GPU">>) {
  // expected-error@below {{operands are on different devices: CPU and GPU}}
  %0 = tg.where %p, %a, %a : (tensor<4xi1, #tg.place<"CPU">>, tensor<4xf32, #tg.place<"GPU">>, tensor<4xf32, #tg.place<"GPU">>) -> tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%p: tensor<i1>, %a: tensor<f32>) {
  // expected-error@below {{the result type is written as tensor<i1>, but the op gives tensor<f32>}}
  %0 = tg.where %p, %a, %a : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<i1>
  func.return
}

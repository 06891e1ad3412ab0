// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<24xf32>, %i: tensor<i32>) {
  // expected-error@below {{expected memory of one axis on one device, got tensor<24xf32>}}
  %0 = tg_legacy.index %x, %i : (tensor<24xf32>, tensor<i32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<4x6xf32, #tg.place<global>>, %i: tensor<i32>) {
  // expected-error@below {{expected memory of one axis on one device, got tensor<4x6xf32, #tg.place<global>>}}
  %0 = tg_legacy.index %m, %i : (tensor<4x6xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<["A", "B"], global, axis = 0>>, %i: tensor<i32>) {
  // expected-error@below {{expected memory of one axis on one device, got tensor<4xf32, #tg.place<["A", "B"], global, axis = 0>>}}
  %0 = tg_legacy.index %m, %i : (tensor<4xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<i32>) -> tensor<f32, #tg.place<["A", "B"], global>>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<f32>) {
  // expected-error@below {{a position is an integer or a vector of them, not tensor<f32>}}
  %0 = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<f32>) -> tensor<f32, #tg.place<global>>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<2x2xi32>) {
  // expected-error@below {{a position is an integer or a vector of them, not tensor<2x2xi32>}}
  %0 = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<2x2xi32>) -> tensor<2x2xf32, #tg.place<global>>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>, %v: tensor<i32>) {
  // expected-error@below {{a condition is bool, of shape (), not tensor<i32>}}
  %0 = tg_legacy.index %m, %i valid %v : (tensor<24xf32, #tg.place<global>>, tensor<i32>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<4xi32>, %v: tensor<2xi1>) {
  // expected-error@below {{a condition is bool, of shape () or 4, not tensor<2xi1>}}
  %0 = tg_legacy.index %m, %i valid %v : (tensor<24xf32, #tg.place<global>>, tensor<4xi32>, tensor<2xi1>) -> tensor<4xf32, #tg.place<global>>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<"A", global>>, %i: tensor<i32, #tg.place<"B">>) {
  // expected-error@below {{operands are on different devices: A and B}}
  %0 = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<"A", global>>, tensor<i32, #tg.place<"B">>) -> tensor<f32, #tg.place<"A", global>>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>) {
  // expected-error@below {{the result type is written as tensor<f32>, but the op gives tensor<f32, #tg.place<global>>}}
  %0 = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32>
  func.return
}

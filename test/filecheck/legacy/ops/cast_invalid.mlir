// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: tensor<f32, #tg.place<global>>) {
  // expected-error@below {{a CAST of a location takes the INDEX of one element, not tensor<f32, #tg.place<global>> of a block argument}}
  %0 = tg_legacy.cast %m : tensor<f32, #tg.place<global>> -> tensor<4xf32, #tg.place<global>>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<2xi32>) {
  %p = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<2xi32>) -> tensor<2xf32, #tg.place<global>>
  // expected-error@below {{a CAST of a location takes the INDEX of one element, not tensor<2xf32, #tg.place<global>> of tg_legacy.index}}
  %0 = tg_legacy.cast %p : tensor<2xf32, #tg.place<global>> -> tensor<4xf32, #tg.place<global>>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>) {
  %p = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  // expected-error@below {{a location of tensor<f32, #tg.place<global>> is cast to a vector of it, not to tensor<4xi32, #tg.place<global>>}}
  %0 = tg_legacy.cast %p : tensor<f32, #tg.place<global>> -> tensor<4xi32, #tg.place<global>>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>) {
  %p = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  // expected-error@below {{a location of tensor<f32, #tg.place<global>> is cast to a vector of it, not to tensor<4xf32>}}
  %0 = tg_legacy.cast %p : tensor<f32, #tg.place<global>> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>) {
  %p = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  // expected-error@below {{a location of tensor<f32, #tg.place<global>> is cast to a vector of it, not to tensor<2x2xf32, #tg.place<global>>}}
  %0 = tg_legacy.cast %p : tensor<f32, #tg.place<global>> -> tensor<2x2xf32, #tg.place<global>>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>) {
  %p = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  // expected-error@below {{a location of tensor<f32, #tg.place<global>> is cast to a vector of it, not to tensor<?xf32, #tg.place<global>>}}
  %0 = tg_legacy.cast %p : tensor<f32, #tg.place<global>> -> tensor<?xf32, #tg.place<global>>
  func.return
}

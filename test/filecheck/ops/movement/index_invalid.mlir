// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>, %i: tensor<index>) {
  // expected-error@below {{3 indices into a tensor of 2 axes}}
  %0 = tg.index %x[%i, %i, %i] : (tensor<4x8xf32>, tensor<index>, tensor<index>, tensor<index>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<2x2xi32>) {
  // expected-error@below {{index 0 has shape 2x2; () or (k,)}}
  %0 = tg.index %x[%i] : (tensor<4x8xf32>, tensor<2x2xi32>) -> tensor<2x2x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<index>, %j: tensor<f32>) {
  // expected-error@below {{index 1 is of f32, not an integer}}
  %0 = tg.index %x[%i, %j] : (tensor<4x8xf32>, tensor<index>, tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<i1>) {
  // expected-error@below {{index 0 is of i1, not an integer}}
  %0 = tg.index %x[%i] : (tensor<4x8xf32>, tensor<i1>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>, %i: tensor<index>) {
  // expected-error@below {{the sharding axis 0 may not be indexed}}
  %0 = tg.index %x[%i] : (tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>, tensor<index>) -> tensor<8xf32, #tg.place<["A", "B"]>>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<index>) {
  // expected-error@below {{the result type is written as tensor<4xf32>, but the op gives tensor<8xf32>}}
  %0 = tg.index %x[%i] : (tensor<4x8xf32>, tensor<index>) -> tensor<4xf32>
  func.return
}

// -----

func.func @device(%x: tensor<4xf32, #tg.place<"A">>, %i: tensor<2xindex, #tg.place<"B">>) {
  // expected-error@below {{operands are on different devices: A and B}}
  %0 = tg.index %x[%i] : (tensor<4xf32, #tg.place<"A">>, tensor<2xindex, #tg.place<"B">>) -> tensor<2xf32, #tg.place<"A">>
  func.return
}

// -----

func.func @axis(%x: tensor<4xf32, #tg.place<["A", "B"], global>>, %i: tensor<2xindex, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{index 0 of memory may not be sharded}}
  %0 = tg.index %x[%i] : (tensor<4xf32, #tg.place<["A", "B"], global>>, tensor<2xindex, #tg.place<["A", "B"], axis = 0>>) -> tensor<2xf32, #tg.place<["A", "B"], global, axis = 0>>
  func.return
}

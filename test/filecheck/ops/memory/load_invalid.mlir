// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<4xf32>) {
  // expected-error@below {{alt and gate come together}}
  %0 = "tg.load"(%m, %v) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %g: tensor<i1>) {
  // expected-error@below {{alt and gate come together}}
  %0 = "tg.load"(%m, %g) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<i1>) -> tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<f32>, %g: tensor<i1>) {
  // expected-error@below {{alt is tensor<f32>, the buffer tensor<4xf32, #tg.place<"CPU", global>>}}
  %0 = tg.load %m alt %v gate %g : tensor<4xf32, #tg.place<"CPU", global>>, tensor<f32>, tensor<i1> -> tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<4xf16>, %g: tensor<i1>) {
  // expected-error@below {{alt is tensor<4xf16>, the buffer tensor<4xf32, #tg.place<"CPU", global>>}}
  %0 = tg.load %m alt %v gate %g : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf16>, tensor<i1> -> tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<4xf32>, %g: tensor<i32>) {
  // expected-error@below {{a gate is bool, () or of the buffer's shape, not tensor<i32>}}
  %0 = tg.load %m alt %v gate %g : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>, tensor<i32> -> tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<4xf32>, %g: tensor<2xi1>) {
  // expected-error@below {{a gate is bool, () or of the buffer's shape, not tensor<2xi1>}}
  %0 = tg.load %m alt %v gate %g : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>, tensor<2xi1> -> tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{'shared' is not one of global, local, reg}}
  %0 = tg.load %m addrspace "shared" : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%m: tensor<5xf32>) {
  // expected-error@below {{axis 0 of shape 5 does not split into 2 equal shards}}
  %0 = tg.load %m device ["A", "B"] : tensor<5xf32> -> tensor<5xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{the result type is written as tensor<4xf32, #tg.place<"CPU", global>>, but the op gives tensor<4xf32, #tg.place<"CPU">>}}
  %0 = tg.load %m : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @device(%b: tensor<4xf32, #tg.place<"A", global>>, %v: tensor<4xf32, #tg.place<"B">>, %g: tensor<i1>) {
  // expected-error@below {{operands are on different devices: A and B}}
  %s = tg.load %b alt %v gate %g : tensor<4xf32, #tg.place<"A", global>>, tensor<4xf32, #tg.place<"B">>, tensor<i1> -> tensor<4xf32, #tg.place<"A">>
  func.return
}

// -----

func.func @axis(%b: tensor<4x4xf32, #tg.place<["A", "B"], global, axis = 0>>, %v: tensor<4x4xf32>, %g: tensor<4x4xi1, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{operands are sharded on different axes: 0 and 1}}
  %s = tg.load %b alt %v gate %g : tensor<4x4xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x4xf32>, tensor<4x4xi1, #tg.place<["A", "B"], axis = 1>> -> tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

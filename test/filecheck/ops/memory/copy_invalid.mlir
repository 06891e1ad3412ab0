// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<5xf32>) {
  // expected-error@below {{axis 0 of shape 5 does not split into 2 equal shards}}
  %0 = tg.copy %x to ["A", "B"] : tensor<5xf32> -> tensor<5xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{the sharding axis 0 is not an axis of shape ()}}
  %0 = tg.copy %x to ["A", "B"] : tensor<f32> -> tensor<f32, #tg.place<["A", "B"]>>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{a device tuple holds one or more distinct devices}}
  %0 = tg.copy %x to ["A", "A"] : tensor<4xf32> -> tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the result type is written as tensor<4xf32, #tg.place<"CPU", global>>, but the op gives tensor<4xf32, #tg.place<"CPU">>}}
  %0 = tg.copy %x to "CPU" : tensor<4xf32> -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the result type is written as tensor<4xf32, #tg.place<["A", "B"]>>, but the op gives tensor<4xf32, #tg.place<["A", "B"], axis = 0>>}}
  %0 = tg.copy %x to ["A", "B"] : tensor<4xf32> -> tensor<4xf32, #tg.place<["A", "B"]>>
  func.return
}

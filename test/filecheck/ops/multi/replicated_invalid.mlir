// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x2xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{axis 1 is not the sharding axis (0)}}
  %0 = tg.replicated %x axis 1 : tensor<2x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2xf32, #tg.place<["A", "B"]>>
  func.return
}

// -----

func.func @f(%x: tensor<2x2xf32>) {
  // expected-error@below {{axis 0 is not the sharding axis (null)}}
  %0 = tg.replicated %x axis 0 : tensor<2x2xf32> -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x2xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{the sharding axis has 4 entries for 2 devices}}
  %0 = tg.replicated %x axis 0 : tensor<4x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2xf32, #tg.place<["A", "B"]>>
  func.return
}

// -----

func.func @f(%x: tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{the result type is written as tensor<4xf32>, but the op gives tensor<4xf32, #tg.place<["A", "B"]>>}}
  %0 = tg.replicated %x axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32>
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{1 flags for a tensor of 2 axes}}
  %0 = tg.flip %x [true] : tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{the sharding axis 0 may not be flipped}}
  %0 = tg.flip %x [true, false] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{the result type is written as tensor<8x4xf32>, but the op gives tensor<4x8xf32>}}
  %0 = tg.flip %x [true, true] : tensor<4x8xf32> -> tensor<8x4xf32>
  func.return
}

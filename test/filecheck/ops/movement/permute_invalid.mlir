// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{order [0, 0] is not a permutation of 2 axes}}
  %0 = tg.permute %x [0, 0] : tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{order [0] is not a permutation of 2 axes}}
  %0 = tg.permute %x [0] : tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{order [1, 2] is not a permutation of 2 axes}}
  %0 = tg.permute %x [1, 2] : tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{the result type is written as tensor<4x8xf32>, but the op gives tensor<8x4xf32>}}
  %0 = tg.permute %x [1, 0] : tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{the result type is written as tensor<8x4xf16>, but the op gives tensor<8x4xf32>}}
  %0 = tg.permute %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf16>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{the result type is written as tensor<8x4xf32>, but the op gives tensor<8x4xf32, #tg.place<"CPU", global>>}}
  %0 = tg.permute %x [1, 0] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<8x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{the result type is written as tensor<8x4xf32, #tg.place<["A", "B"], axis = 0>>, but the op gives tensor<8x4xf32, #tg.place<["A", "B"], axis = 1>>}}
  %0 = tg.permute %x [1, 0] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<8x4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{property 'order' expected in operation 'tg.permute'}}
  %0 = "tg.permute"(%x) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{Expected attribute i64 but got i32}}
  %0 = "tg.permute"(%x) <{order = array<i32: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  func.return
}

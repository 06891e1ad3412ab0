// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis 0: offset 2 plus extent 4 exceeds 5}}
  %0 = tg.pad %x at [2, 0] to [5, 8] : tensor<4x8xf32> -> tensor<5x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis 1: offset -1 is negative}}
  %0 = tg.pad %x at [0, -1] to [4, 9] : tensor<4x8xf32> -> tensor<4x9xf32>
  func.return
}

// -----

func.func @f() {
  %n = tg.param 0 "n" : tensor<index>
  %x = tg.param 1 (%n) : tensor<?xf32>
  // expected-error@below {{axis 0: offset 1 plus extent %n exceeds %n}}
  %0 = tg.pad %x at [1] to [%n] : tensor<?xf32> -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{pad from 2 to 1 axes; the rank is kept}}
  %0 = tg.pad %x at [0, 0] to [32] : tensor<4x8xf32> -> tensor<32xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{1 offsets for a tensor of 2 axes}}
  %0 = tg.pad %x at [0] to [4, 8] : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{the fill is f64, the tensor f32}}
  %0 = tg.pad %x at [1, 0] to [6, 8] fill 1.0 : f64 : tensor<4x8xf32> -> tensor<6x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{"x" is not a number}}
  %0 = tg.pad %x at [1, 0] to [6, 8] fill "x" : tensor<4x8xf32> -> tensor<6x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{the sharding axis 0 may not change from 4 to 6}}
  %0 = tg.pad %x at [0, 0] to [6, 8] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6x8xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{the result type is written as tensor<6x8xf32>, but the op gives tensor<7x8xf32>}}
  %0 = tg.pad %x at [1, 0] to [7, 8] : tensor<4x8xf32> -> tensor<6x8xf32>
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis 1: offset 5 plus extent 4 exceeds 8}}
  %0 = tg.shrink %x at [0, 5] to [4, 4] : tensor<4x8xf32> -> tensor<4x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis 0: offset -1 is negative}}
  %0 = tg.shrink %x at [-1, 0] to [4, 8] : tensor<4x8xf32>  -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f() {
  %n = tg.param 0 "n" : tensor<index>
  %x = tg.param 1 (%n) : tensor<?xf32>
  %one = tg.const 1 : tensor<index>
  %m = tg.add %n, %one : tensor<index>
  // expected-error@below {{axis 0: offset 0 plus extent %m exceeds %n}}
  %0 = tg.shrink %x at [0] to [%m] : tensor<?xf32> -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  %o = tg.const -3 : tensor<index>
  // expected-error@below {{axis 0: offset -3 is negative}}
  %0 = tg.shrink %x at [%o] to [4] : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  %n = tg.const -2 : tensor<index>
  // expected-error@below {{axis 0 of the new shape is negative: -2}}
  %0 = tg.shrink %x at [0] to [%n] : tensor<4xf32> -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis 0 of the new shape is negative: -2}}
  %0 = tg.shrink %x at [0, 0] to [-2, 8] : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{the sharding axis 0 may not change from 4 to 2}}
  %0 = tg.shrink %x at [0, 0] to [2, 8] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x8xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{the result type is written as tensor<2x8xf32>, but the op gives tensor<3x8xf32>}}
  %0 = tg.shrink %x at [0, 0] to [3, 8] : tensor<4x8xf32> -> tensor<2x8xf32>
  func.return
}

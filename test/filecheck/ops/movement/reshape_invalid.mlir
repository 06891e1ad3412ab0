// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{reshape from 4x8 to 5x8 changes the number of elements}}
  %0 = tg.reshape %x [5, 8] : tensor<4x8xf32> -> tensor<5x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{reshape from 4x8 to () changes the number of elements}}
  %0 = tg.reshape %x [] : tensor<4x8xf32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis 1 of the new shape is negative: -8}}
  %0 = tg.reshape %x [4, -8] : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f() {
  %n = tg.param 0 "n" : tensor<index>
  %m = tg.param 1 "m" : tensor<index>
  %x = tg.param 2 (%n) : tensor<?x4xf32>
  // expected-error@below {{reshape from %nx4 to %mx4 changes the number of elements}}
  %0 = tg.reshape %x [%m, 4] : tensor<?x4xf32> -> tensor<?x4xf32>
  func.return
}

// -----

func.func @f() {
  %n = tg.param 0 "n" : tensor<index>
  %x = tg.param 1 (%n) : tensor<?x8xf32>
  %m = tg.mul %n, %n : tensor<index>
  // expected-error@below {{reshape from %nx8 to %mx4 changes the number of elements}}
  %0 = tg.reshape %x [%m, 4] : tensor<?x8xf32> -> tensor<?x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?x4xf32>) {
  // expected-error@below {{reshape from ?x4 to 8 changes the number of elements}}
  %0 = tg.reshape %x [8] : tensor<?x4xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{reshape from 8x5 to 5x8 moves the shard boundaries of axis 0}}
  %0 = tg.reshape %x [5, 8] : tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<5x8xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<3x8xf32, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{reshape from 3x8 to 24 moves the shard boundaries of axis 1}}
  %0 = tg.reshape %x [24] : tensor<3x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<24xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{the result type is written as tensor<8x4xf32>, but the op gives tensor<4x8xf32>}}
  %0 = tg.reshape %x [4, 8] : tensor<4x8xf32> -> tensor<8x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  %n = tg.const 4 : tensor<index>
  // expected-error@below {{the result type is written as tensor<4x8xf32>, but the op gives tensor<?x8xf32>}}
  %0 = tg.reshape %x [%n, 8] : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %n: tensor<i32>) {
  // expected-error@below {{operand is used with type tensor<index>, but has been previously used or defined with type tensor<i32>}}
  %0 = tg.reshape %x [%n, 8] : tensor<4x8xf32> -> tensor<?x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{shape has 1 dynamic entries but 0 values}}
  %0 = "tg.reshape"(%x) <{shape = array<i64: -9223372036854775808, 8>}> : (tensor<4x8xf32>) -> tensor<?x8xf32>
  func.return
}

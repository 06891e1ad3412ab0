// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{UNROLL of 2 iterations takes a vector of as many, not tensor<4xf32>}}
  %0 = tg_legacy.unroll %x [[0, 2]] : tensor<4xf32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<2x2xf32>) {
  // expected-error@below {{UNROLL of 4 iterations takes a vector of as many, not tensor<2x2xf32>}}
  %0 = tg_legacy.unroll %x [[0, 2], [1, 2]] : tensor<2x2xf32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{an axis is listed twice in [[0, 2], [0, 2]]}}
  %0 = tg_legacy.unroll %x [[0, 2], [0, 2]] : tensor<4xf32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{an axis is its number and its size, got [0]}}
  %0 = tg_legacy.unroll %x [[0]] : tensor<4xf32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{an axis is its number and its size, got [-1, 4]}}
  %0 = tg_legacy.unroll %x [[-1, 4]] : tensor<4xf32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<0xf32>) {
  // expected-error@below {{an axis is its number and its size, got [0, 0]}}
  %0 = tg_legacy.unroll %x [[0, 0]] : tensor<0xf32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32, #tg.place<global>>) {
  // expected-error@below {{tg_legacy.unroll takes values, not memory: tensor<4xf32, #tg.place<global>>}}
  %0 = tg_legacy.unroll %x [[0, 4]] : tensor<4xf32, #tg.place<global>> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the result type is written as tensor<4xf32>, but the op gives tensor<f32>}}
  %0 = tg_legacy.unroll %x [[0, 4]] : tensor<4xf32> -> tensor<4xf32>
  func.return
}

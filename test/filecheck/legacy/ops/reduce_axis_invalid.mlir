// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis 2 is out of range for 2 axes}}
  %0 = tg_legacy.reduce_axis add %x [2] : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis -1 is out of range for 2 axes}}
  %0 = tg_legacy.reduce_axis add %x [-1] : tensor<4x8xf32> -> tensor<4x1xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axes [1, 1] are not unique}}
  %0 = tg_legacy.reduce_axis add %x [1, 1] : tensor<4x8xf32> -> tensor<4x1xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{the result type is written as tensor<4xf32>, but the op gives tensor<4x1xf32>}}
  %0 = tg_legacy.reduce_axis add %x [1] : tensor<4x8xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{Expected `add`, `mul`, or `max`.}}
  %0 = tg_legacy.reduce_axis min %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  func.return
}

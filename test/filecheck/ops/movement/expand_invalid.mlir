// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x1xf32>) {
  // expected-error@below {{expand from 2 to 3 axes; the rank is kept}}
  %0 = tg.expand %x [2, 4, 8] : tensor<4x1xf32> -> tensor<2x4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x1xf32>) {
  // expected-error@below {{axis 0: 4 does not expand to 5}}
  %0 = tg.expand %x [5, 8] : tensor<4x1xf32> -> tensor<5x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x1xf32>, %n: tensor<index>) {
  // expected-error@below {{axis 0: 4 does not expand to %n}}
  %0 = tg.expand %x [%n, 8] : tensor<4x1xf32> -> tensor<?x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x1xf32>) {
  // expected-error@below {{axis 1 of the new shape is negative: -1}}
  %0 = tg.expand %x [4, -1] : tensor<4x1xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x1xf32>) {
  // expected-error@below {{the result type is written as tensor<4x7xf32>, but the op gives tensor<4x8xf32>}}
  %0 = tg.expand %x [4, 8] : tensor<4x1xf32> -> tensor<4x7xf32>
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{tg_legacy.shrink has a pair of numbers for each of 2 axes}}
  %0 = tg_legacy.shrink %x [[1, 1]] : tensor<4x8xf32> -> tensor<6x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{SHRINK from 1 to 5 of an axis of 4}}
  %0 = tg_legacy.shrink %x [[1, 5]] : tensor<4xf32> -> tensor<4xf32>
  func.return
}

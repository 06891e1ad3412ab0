// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{tg_legacy.pad has a pair of numbers for each of 2 axes}}
  %0 = tg_legacy.pad %x [[1, 1]] : tensor<4x8xf32> -> tensor<6x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{PAD puts -1 and 1 zeros around an axis}}
  %0 = tg_legacy.pad %x [[-1, 1]] : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error@below {{tg_legacy.pad takes axes of known extents, not tensor<?xf32>}}
  %0 = tg_legacy.pad %x [[1, 1]] : tensor<?xf32> -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{tg_legacy.pad takes a value on one device: MULTI has the shards}}
  %0 = tg_legacy.pad %x [[1, 1]] : tensor<4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6xf32>
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{CONTRACT takes a scalar, got tensor<4xf32>}}
  %0 = tg_legacy.contract %x [[0, 4]] : tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{the result type is written as tensor<2xf32>, but the op gives tensor<4xf32>}}
  %0 = tg_legacy.contract %x [[0, 4]] : tensor<f32> -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{an axis is listed twice in [[0, 4], [0, 4]]}}
  %0 = tg_legacy.contract %x [[0, 4], [0, 4]] : tensor<f32> -> tensor<16xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32, #tg.place<global>>) {
  // expected-error@below {{tg_legacy.contract takes values, not memory: tensor<f32, #tg.place<global>>}}
  %0 = tg_legacy.contract %x [[0, 4]] : tensor<f32, #tg.place<global>> -> tensor<4xf32>
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the vector has no lane 4: tensor<4xf32>}}
  %0 = tg_legacy.gep %x [4] : tensor<4xf32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the vector has no lane -1: tensor<4xf32>}}
  %0 = tg_legacy.gep %x [-1] : tensor<4xf32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{GEP takes at least one lane}}
  %0 = tg_legacy.gep %x [] : tensor<4xf32> -> tensor<0xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{GEP takes a vector, not tensor<f32>}}
  %0 = tg_legacy.gep %x [0] : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<2x2xf32>) {
  // expected-error@below {{GEP takes a vector, not tensor<2x2xf32>}}
  %0 = tg_legacy.gep %x [0] : tensor<2x2xf32> -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error@below {{GEP takes a vector, not tensor<?xf32>}}
  %0 = tg_legacy.gep %x [0] : tensor<?xf32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32, #tg.place<global>>) {
  // expected-error@below {{GEP takes a vector, not tensor<4xf32, #tg.place<global>>}}
  %0 = tg_legacy.gep %x [0] : tensor<4xf32, #tg.place<global>> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the result type is written as tensor<1xf32>, but the op gives tensor<f32>}}
  %0 = tg_legacy.gep %x [0] : tensor<4xf32> -> tensor<1xf32>
  func.return
}

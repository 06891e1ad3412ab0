// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{"rcp" does not read "target.mnemonic"}}
  %0 = tg.ins "rcp"(%x) : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{".rcp" does not read "target.mnemonic"}}
  %0 = tg.ins ".rcp"(%x) : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{target cpu has no instruction frobnicate}}
  %0 = tg.ins "cpu.frobnicate"(%x) : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{the result is a tensor or !tg.void, not i32}}
  %0 = tg.ins "amd.x"(%x) : tensor<f32> -> i32
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{i7 is not a dtype}}
  %0 = tg.ins "amd.x"(%x) : tensor<f32> -> tensor<i7>
  func.return
}

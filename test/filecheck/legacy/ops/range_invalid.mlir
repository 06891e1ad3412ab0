// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{axis -1 is negative}}
  %i = tg_legacy.range -1 from %n to %n : tensor<i32>
  func.return
}

// -----

func.func @f(%n: tensor<f32>) {
  // expected-error@below {{the bounds of a loop are integers, not tensor<f32>}}
  %i = tg_legacy.range 0 from %n to %n : tensor<f32>
  func.return
}

// -----

func.func @f(%n: tensor<4xi32>) {
  // expected-error@below {{Expected 2 operand types, but got 1}}
  %i = tg_legacy.range 0 from %n to %n : tensor<4xi32> -> tensor<i32>
  func.return
}

// -----

func.func @f(%n: tensor<4xi32>) {
  // expected-error@below {{the bounds of a loop are integers, not tensor<4xi32>}}
  %i = tg_legacy.range 0 from %n to %n : tensor<4xi32>
  func.return
}

// -----

func.func @f(%n: tensor<i32>, %m: tensor<i64>) {
  // expected-error@below {{a loop from tensor<i32> to tensor<i64>}}
  %i = tg_legacy.range 0 from %n to %m : (tensor<i32>, tensor<i64>) -> tensor<i32>
  func.return
}

// -----

func.func @f() {
  %n = tg.const 4 : tensor<i32>
  %m = tg.const 3 : tensor<i32>
  // expected-error@below {{a loop from 4 to 3}}
  %i = tg_legacy.range 0 from %n to %m : tensor<i32>
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{a loop ends once, not 2 times}}
  %i = tg_legacy.range 0 from %n to %n : tensor<i32>
  %0 = tg_legacy.endrange %i : tensor<i32>
  %1 = tg_legacy.endrange %i : tensor<i32>
  func.return
}

// -----

func.func @f(%n: tensor<i32>) {
  // expected-error@below {{the result type is written as tensor<index>, but the op gives tensor<i32>}}
  %i = tg_legacy.range 0 from %n to %n : (tensor<i32>, tensor<i32>) -> tensor<index>
  func.return
}

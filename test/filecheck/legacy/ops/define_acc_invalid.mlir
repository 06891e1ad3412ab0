// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{number -1 is negative}}
  %0 = tg_legacy.define_acc -1 from %x : tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32, #tg.place<global>>) {
  // expected-error@below {{an accumulator begins with a value, not with memory: tensor<f32, #tg.place<global>>}}
  %0 = tg_legacy.define_acc 0 from %x : tensor<f32, #tg.place<global>> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>, %i: tensor<i32>) {
  // expected-error@below {{expected a RANGE or LOOP, got a block argument}}
  %0 = tg_legacy.define_acc 0 from %x over %i : (tensor<f32>, tensor<i32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  %c = tg.const 3 : tensor<i32>
  // expected-error@below {{expected a RANGE or LOOP, got tg.const}}
  %0 = tg_legacy.define_acc 0 from %x over %c : (tensor<f32>, tensor<i32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>, %zero: tensor<i32>, %n: tensor<i32>) {
  %i = tg_legacy.range 0 from %zero to %n : tensor<i32>
  // expected-error@below {{a loop is listed twice: 2 sources are 1 loops}}
  %0 = tg_legacy.define_acc 0 from %x over %i, %i : (tensor<f32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{the result type is written as tensor<f64>, but the op gives tensor<f32>}}
  %0 = tg_legacy.define_acc 0 from %x : tensor<f32> -> tensor<f64>
  func.return
}

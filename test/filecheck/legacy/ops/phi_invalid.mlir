// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{PHI updates an accumulator, not tensor<f32> of a block argument}}
  %0 = tg_legacy.phi %x, %x : tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<f32, #tg.place<global>>, %x: tensor<f32>) {
  // expected-error@below {{PHI updates an accumulator, not tensor<f32, #tg.place<global>> of a block argument}}
  %0 = tg_legacy.phi %m, %x : (tensor<f32, #tg.place<global>>, tensor<f32>) -> tensor<f32, #tg.place<global>>
  func.return
}

// -----

func.func @f(%x: tensor<f32>, %y: tensor<i32>) {
  %acc = tg_legacy.define_acc 0 from %x : tensor<f32>
  // expected-error@below {{the target is tensor<f32>, the value tensor<i32>}}
  %0 = tg_legacy.phi %acc, %y : (tensor<f32>, tensor<i32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>, %y: tensor<4xf32>) {
  %acc = tg_legacy.define_acc 0 from %x : tensor<f32>
  // expected-error@below {{the target is tensor<f32>, the value tensor<4xf32>}}
  %0 = tg_legacy.phi %acc, %y : (tensor<f32>, tensor<4xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>, %i: tensor<i32>) {
  %acc = tg_legacy.define_acc 0 from %x : tensor<f32>
  // expected-error@below {{expected a RANGE or LOOP, got a block argument}}
  %0 = tg_legacy.phi %acc, %x over %i : (tensor<f32>, tensor<f32>, tensor<i32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>, %n: tensor<i32>) {
  %acc = tg_legacy.define_acc 0 from %x : tensor<f32>
  %i = tg_legacy.loop from %n to %n : tensor<i32>
  // expected-error@below {{a loop is listed twice: 2 sources are 1 loops}}
  %0 = tg_legacy.phi %acc, %x over %i, %i : (tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  func.return
}

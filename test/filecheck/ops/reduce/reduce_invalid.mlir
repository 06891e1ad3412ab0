// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis 2 is out of range for 2 axes}}
  %0 = tg.reduce add %x [2] : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axis -1 is out of range for 2 axes}}
  %0 = tg.reduce add %x [-1] : tensor<4x8xf32> -> tensor<4x1xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{axes [0, 0] are not unique}}
  %0 = tg.reduce add %x [0, 0] : tensor<4x8xf32> -> tensor<1x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{Expected `add`, `mul`, or `max`}}
  %0 = tg.reduce min %x [0] : tensor<4x8xf32> -> tensor<1x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@below {{the result type is written as tensor<4xf32>, but the op gives tensor<4x1xf32>}}
  %0 = tg.reduce add %x [1] : tensor<4x8xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>, %n: tensor<index>) {
  // expected-error@below {{a REDUCE goes over RANGEs only}}
  %0 = tg.reduce add %x [] over %n : tensor<f32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>, %n: tensor<index>) {
  %i = tg.range 0 reduce to %n : tensor<index>
  // expected-error@below {{a REDUCE goes over a range that its operand does not depend on}}
  %0 = tg.reduce add %x [] over %i : tensor<f32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%n: tensor<index>) {
  %i = tg.range 0 reduce to %n : tensor<index>
  %0 = tg.reduce add %i [] over %i : tensor<index> -> tensor<index>
  // expected-error@below {{a REDUCE goes over a range that its operand does not depend on}}
  %1 = tg.reduce add %0 [] over %i : tensor<index> -> tensor<index>
  func.return
}

// -----

func.func @relaxed_sum(%x: tensor<4x8xf32>) {
  // expected-error@below {{only a max of floats is relaxed}}
  %0 = tg.reduce add %x [1] relaxed : tensor<4x8xf32> -> tensor<4x1xf32>
  func.return
}

// -----

func.func @relaxed_integers(%x: tensor<4x8xi32>) {
  // expected-error@below {{only a max of floats is relaxed}}
  %0 = tg.reduce max %x [1] relaxed : tensor<4x8xi32> -> tensor<4x1xi32>
  func.return
}

// -----

tg.kernel @twice {
  %n = tg.const 4 : tensor<index>
  %p = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %r = tg.range 0 reduce to %n : tensor<index>
  %i = tg.index %p[%r] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %l = tg.load %i : tensor<f32, #tg.place<global>> -> tensor<f32>
  // expected-error@below {{a REDUCE goes over each range once}}
  %x = tg.reduce add %l [] over %r, %r : tensor<f32> -> tensor<f32>
}

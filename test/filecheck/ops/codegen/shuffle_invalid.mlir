// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<f32>) {
  // expected-error@below {{a warp has a power of two of work items, not 24}}
  %0 = tg.shuffle %a xor 4 of 24 : tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<f32>) {
  // expected-error@below {{a warp has a power of two of work items, not 1}}
  %0 = tg.shuffle %a xor 1 of 1 : tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<f32>) {
  // expected-error@below {{the distance is 1 to 31 in a warp, not 32}}
  %0 = tg.shuffle %a xor 32 of 32 : tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<f32>) {
  // expected-error@below {{the distance is 1 to 31 in a warp, not 0}}
  %0 = tg.shuffle %a xor 0 of 32 : tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<f32, #tg.place<"CPU", global>>) {
  // expected-error@below {{SHUFFLE takes a value, not memory: tensor<f32, #tg.place<"CPU", global>>}}
  %0 = tg.shuffle %a xor 1 of 32 : (tensor<f32, #tg.place<"CPU", global>>) -> tensor<f32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f(%a: tensor<f32>) {
  // expected-error@below {{the result type is written as tensor<f64>, but the op gives tensor<f32>}}
  %0 = tg.shuffle %a xor 1 of 32 : (tensor<f32>) -> tensor<f64>
  func.return
}

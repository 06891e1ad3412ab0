// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{i7 is not a dtype}}
  %0 = tg.cast %x to i7 : tensor<4xf32> -> tensor<4xi7>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{tensor<i32> is not a dtype}}
  %0 = tg.cast %x to tensor<i32> : tensor<4xf32> -> tensor<4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{si32 is not a dtype}}
  %0 = tg.cast %x to si32 : tensor<4xf32> -> tensor<4xsi32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the result type is written as tensor<4xi16>, but the op gives tensor<4xi32>}}
  %0 = tg.cast %x to i32 : tensor<4xf32> -> tensor<4xi16>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the result type is written as tensor<2x2xi32>, but the op gives tensor<4xi32>}}
  %0 = tg.cast %x to i32 : tensor<4xf32> -> tensor<2x2xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{property 'dtype' expected in operation 'tg.cast'}}
  %0 = "tg.cast"(%x) : (tensor<4xf32>) -> tensor<4xi32>
  func.return
}

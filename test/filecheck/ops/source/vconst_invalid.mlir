// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{the result type is written as tensor<3xindex>, but the op gives tensor<4xindex>}}
  %0 = tg.vconst [0, 1, 2, 3] : tensor<3xindex>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the result type is written as tensor<2xf32>, but the op gives tensor<2xindex>}}
  %0 = tg.vconst [0, 1] : tensor<2xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{a range has 1 to 1048576 elements, not 100000000000}}
  %0 = tg.vconst [0 to 100000000000] : tensor<2xindex>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{a range has 1 to 1048576 elements, not -1}}
  %0 = tg.vconst [3 to 2] : tensor<2xindex>
  func.return
}

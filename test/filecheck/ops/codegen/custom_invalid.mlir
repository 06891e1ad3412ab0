// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{'f({0})' has placeholders ['0'] for 2 arguments}}
  %0 = tg.custom "f({0})"(%x, %x) : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{'f({}, {})' has placeholders ['', ''] for 1 arguments}}
  %0 = tg.custom "f({}, {})"(%x) : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{'f({x})' has placeholders ['x'] for 1 arguments}}
  %0 = tg.custom "f({x})"(%x) : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{'f({' is not a format}}
  %0 = tg.custom "f({"(%x) : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{the result is a tensor or !tg.void, not i32}}
  %0 = tg.custom "f({0})"(%x) : tensor<i32> -> i32
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{'f({0:>9})' has a placeholder with a format of its own: write {i}}}
  %0 = tg.custom "f({0:>9})"(%x) : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{'f({0!r})' has a placeholder with a format of its own: write {i}}}
  %0 = tg.custom "f({0!r})"(%x) : tensor<i32>
  func.return
}

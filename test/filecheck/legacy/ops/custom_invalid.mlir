// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{'f({0}, {1})' has placeholders ['0', '1'] for 1 arguments}}
  %0 = tg_legacy.custom "f({0}, {1})"(%x) : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{'f({0' is not a format: expected '}' before end of string}}
  %0 = tg_legacy.custom "f({0"(%x) : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{the result is a tensor or !tg.void, not !tg.tuple<tensor<i32>>}}
  %0 = tg_legacy.custom "f({0})"(%x) : tensor<i32> -> !tg.tuple<tensor<i32>>
  func.return
}

// -----

func.func @f(%x: !tg.void) {
  // expected-error@below {{expected a tensor, got !tg.void}}
  %0 = tg_legacy.custom "f({0})"(%x) : !tg.void
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{'popcount()' has placeholders [] for 1 arguments}}
  %0 = tg_legacy.customi "popcount()"(%x) : tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<i32>) {
  // expected-error@below {{a CUSTOMI is an expression: a tensor, not !tg.void}}
  %0 = tg_legacy.customi "popcount({0})"(%x) : tensor<i32> -> !tg.void
  func.return
}

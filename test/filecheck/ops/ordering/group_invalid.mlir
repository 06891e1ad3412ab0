// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%v: tensor<4xf32>) {
  // expected-error@below {{Expected attribute !tg.void but got tensor<4xf32>}}
  %0 = "tg.group"(%v) : (tensor<4xf32>) -> !tg.void
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{Expected attribute !tg.void but got tensor<4xf32>}}
  %0 = "tg.group"() : () -> tensor<4xf32>
  func.return
}

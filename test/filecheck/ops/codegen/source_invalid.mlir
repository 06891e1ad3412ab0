// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{attribute expected}}
  %s = tg.source void
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{Expected attribute !tg.void but got tensor<f32>}}
  %s = "tg.source"() <{text = "x"}> : () -> tensor<f32>
  func.return
}

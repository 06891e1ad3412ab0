// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{a SINK is a root: nothing may use it}}
  %0 = tg.sink
  %1 = tg.group %0
  func.return
}

// -----

func.func @f(%v: tensor<4xf32>) {
  // expected-error@below {{a SINK collects effects and memory, not tensor<4xf32>}}
  %0 = tg.sink %v : tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{"fast" should be of base attribute tg.opt}}
  %0 = tg.sink opts ["fast"]
  func.return
}

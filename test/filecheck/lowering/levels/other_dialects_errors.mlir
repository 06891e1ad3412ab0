// RUN: tg-opt %s --split-input-file --verify-diagnostics -p tg-callify

func.func @helper(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{a tensor program cannot call @helper: it is of other dialects}}
  %0 = func.call @helper(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tg.neg %0 : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// -----

// The results of a function on tensors become arguments: what calls it would not fit any more.

func.func @host(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{@main is called by a function of other dialects, and will take its results as arguments}}
  %0 = func.call @main(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = arith.addf %0, %0 : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.neg %a : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

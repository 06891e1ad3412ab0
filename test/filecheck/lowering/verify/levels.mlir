// RUN: tg-opt %s -p 'tg-verify{level=tensor}' --verify-diagnostics --split-input-file

// What does not belong at the level is named where it stands.

tg.program @p { // expected-error {{tg.program is not part of level tensor}}
  tg.linear {
    "tg.sink"() : () -> !tg.void
  }
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %n = tg.const 4 : tensor<index>
  // expected-error@below {{tg.range is not part of func.func at level tensor; it belongs in a tg.kernel}}
  %i = tg.range 0 loop to %n : tensor<index>
  func.return %a : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.function(%a) {
    %p = tg.param 0 : tensor<4xf32>
    %c = tg.exp2 %p : tensor<4xf32>
    %t = tg.tuple %c : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  %1 = tg.gettuple %0 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

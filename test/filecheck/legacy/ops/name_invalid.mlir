// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{"r 4" is not an identifier}}
%n = tg_legacy.name "r 4"

// -----

// expected-error@below {{"" is not an identifier}}
%n = tg_legacy.name ""

// -----

func.func @f(%t: !tg.tuple<tensor<f32>>) {
  // expected-error@below {{Unexpected attribute !tg.tuple<tensor<f32>>}}
  %n = tg_legacy.name "t" of %t : !tg.tuple<tensor<f32>>
  func.return
}

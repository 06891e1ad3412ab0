// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the result type is written as tensor<4xf16>, but the op gives tensor<4xf32>}}
  %a = tg_legacy.noop %x : tensor<4xf32> -> tensor<4xf16>
  func.return
}

// -----

func.func @f(%x: !tg.tuple<tensor<f32>>) {
  // expected-error@below {{Unexpected attribute !tg.tuple<tensor<f32>>}}
  %a = tg_legacy.noop %x : !tg.tuple<tensor<f32>>
  func.return
}

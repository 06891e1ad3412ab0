// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the result type is written as tensor<4xf16>, but the op gives tensor<4xf32>}}
  %0 = tg.contiguous %x : tensor<4xf32> -> tensor<4xf16>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{the result type is written as tensor<4xf32>, but the op gives tensor<4xf32, #tg.place<"CPU", global>>}}
  %0 = tg.contiguous %x : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: !tg.void) {
  // expected-error@below {{expected a tensor, got !tg.void}}
  %0 = tg.contiguous %x : !tg.void
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  %d = tg_legacy.unique 0
  // expected-error@below {{a COPY goes to a DEVICE, not tg_legacy.unique}}
  %0 = tg_legacy.copy %x to %d : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %d: !tg.void) {
  // expected-error@below {{a COPY goes to a DEVICE, not a block argument}}
  %0 = tg_legacy.copy %x to %d : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32, #tg.place<"A">>) {
  %d = tg_legacy.device "B"
  // expected-error@below {{the result type is written as tensor<4xf32, #tg.place<"A">>, but the op gives tensor<4xf32, #tg.place<"B">>}}
  %0 = tg_legacy.copy %x to %d : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"A">>
  func.return
}

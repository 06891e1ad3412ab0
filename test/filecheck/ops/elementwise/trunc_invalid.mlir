// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xi1>) {
  // expected-error@below {{the result type is written as tensor<5xi1>, but the op gives tensor<4xi1>}}
  %0 = tg.trunc %x : tensor<4xi1> -> tensor<5xi1>
  func.return
}

// -----

func.func @f(%x: tensor<4xi1, #tg.place<"CPU", global>>) {
  // expected-error@below {{the result type is written as tensor<4xi1, #tg.place<"CPU", global>>, but the op gives tensor<4xi1, #tg.place<"CPU">>}}
  %0 = tg.trunc %x : tensor<4xi1, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%x: i64) {
  // expected-error@below {{expected a tensor, got i64}}
  %0 = tg.trunc %x : i64
  func.return
}

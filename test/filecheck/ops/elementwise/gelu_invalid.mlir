// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xi32>) {
  // expected-error@below {{tg.gelu is defined on floats, not i32}}
  %0 = tg.gelu %x : tensor<4xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error@below {{tg.gelu is defined on floats, not i1}}
  %0 = tg.gelu %x : tensor<4xi1>
  func.return
}

// -----

func.func @f(%x: tensor<4xf64>) {
  // expected-error@below {{the result type is written as tensor<5xf64>, but the op gives tensor<4xf64>}}
  %0 = tg.gelu %x : tensor<4xf64> -> tensor<5xf64>
  func.return
}

// -----

func.func @f(%x: tensor<4xf64, #tg.place<"CPU", global>>) {
  // expected-error@below {{the result type is written as tensor<4xf64, #tg.place<"CPU", global>>, but the op gives tensor<4xf64, #tg.place<"CPU">>}}
  %0 = tg.gelu %x : tensor<4xf64, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%x: i64) {
  // expected-error@below {{expected a tensor, got i64}}
  %0 = tg.gelu %x : i64
  func.return
}

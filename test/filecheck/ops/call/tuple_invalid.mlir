// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xf32>) {
  // expected-error@below {{the result type is written as !tg.tuple<tensor<i32>>, but the op gives !tg.tuple<tensor<4xf32>>}}
  %t = tg.tuple %a : tensor<4xf32> -> !tg.tuple<tensor<i32>>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@below {{expected a !tg.tuple, got tensor<4xf32>}}
  %t = tg.tuple %a : tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: i32) {
  // expected-error@below {{operand 'values' at position 0 does not verify: expected a tensor, got i32}}
  %t = "tg.tuple"(%a) : (i32) -> !tg.tuple<tensor<i32>>
  func.return
}

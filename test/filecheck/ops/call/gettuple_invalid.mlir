// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%t: !tg.tuple<tensor<4xf32>, tensor<i32>>) {
  // expected-error@below {{index 2 is out of range for 2 elements}}
  %a = tg.gettuple %t 2 : !tg.tuple<tensor<4xf32>, tensor<i32>> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%t: !tg.tuple<tensor<4xf32>, tensor<i32>>) {
  // expected-error@below {{index -1 is out of range for 2 elements}}
  %a = tg.gettuple %t -1 : !tg.tuple<tensor<4xf32>, tensor<i32>> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%t: !tg.tuple<tensor<4xf32>, tensor<i32>>) {
  // expected-error@below {{the result type is written as tensor<i32>, but the op gives tensor<4xf32>}}
  %a = tg.gettuple %t 0 : !tg.tuple<tensor<4xf32>, tensor<i32>> -> tensor<i32>
  func.return
}

// -----

func.func @f(%t: tensor<4xf32>) {
  // expected-error@below {{expected a !tg.tuple, got tensor<4xf32>}}
  %a = tg.gettuple %t 0 : tensor<4xf32>
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%t: !tg.tuple<tensor<4xf32>, tensor<i32>>) {
  // CHECK: %a = tg.gettuple %t 0 : !tg.tuple<tensor<4xf32>, tensor<i32>> -> tensor<4xf32>
  // GENERIC: %a = "tg.gettuple"(%t) <{index = #tg.number<0>}> : (!tg.tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
  %a = tg.gettuple %t 0 : !tg.tuple<tensor<4xf32>, tensor<i32>> -> tensor<4xf32>
  // CHECK: %b = tg.gettuple %t 1 : !tg.tuple<tensor<4xf32>, tensor<i32>> -> tensor<i32>
  // GENERIC: %b = "tg.gettuple"(%t) <{index = #tg.number<1>}> : (!tg.tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
  %b = tg.gettuple %t 1 : !tg.tuple<tensor<4xf32>, tensor<i32>> -> tensor<i32>
  func.return
}

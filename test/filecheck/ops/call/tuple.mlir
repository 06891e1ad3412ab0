// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%a: tensor<4xf32>, %b: tensor<i32>) {
  // CHECK: %t = tg.tuple %a, %b : (tensor<4xf32>, tensor<i32>) -> !tg.tuple<tensor<4xf32>, tensor<i32>>
  // GENERIC: %t = "tg.tuple"(%a, %b) : (tensor<4xf32>, tensor<i32>) -> !tg.tuple<tensor<4xf32>, tensor<i32>>
  %t = tg.tuple %a, %b : (tensor<4xf32>, tensor<i32>) -> !tg.tuple<tensor<4xf32>, tensor<i32>>
  // CHECK: %u = tg.tuple %a : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  // GENERIC: %u = "tg.tuple"(%a) : (tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  %u = tg.tuple %a : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  // CHECK: %none = tg.tuple  : !tg.tuple<>
  // GENERIC: %none = "tg.tuple"() : () -> !tg.tuple<>
  %none = tg.tuple  : !tg.tuple<>
  func.return
}

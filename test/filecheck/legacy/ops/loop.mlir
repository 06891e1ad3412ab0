// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%n: tensor<i32>) {
  %zero = tg.const 0 : tensor<i32>
  %four = tg.const 4 : tensor<i32>
  // CHECK: %i = tg_legacy.loop from %zero to %four : tensor<i32>
  // GENERIC: %i = "tg_legacy.loop"(%zero, %four) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %i = tg_legacy.loop from %zero to %four : tensor<i32>
  // CHECK: %j = tg_legacy.loop from %i to %n : tensor<i32>
  // GENERIC: %j = "tg_legacy.loop"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %j = tg_legacy.loop from %i to %n : tensor<i32>
  func.return
}

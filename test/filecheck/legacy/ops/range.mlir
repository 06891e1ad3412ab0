// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%n: tensor<i32>) {
  %zero = tg.const 0 : tensor<index>
  %four = tg.const 4 : tensor<index>
  // CHECK: %i = tg_legacy.range 0 from %zero to %four : tensor<index>
  // GENERIC: %i = "tg_legacy.range"(%zero, %four) <{axis = #tg.number<0>}> : (tensor<index>, tensor<index>) -> tensor<index>
  %i = tg_legacy.range 0 from %zero to %four : tensor<index>
  // CHECK: %j = tg_legacy.range 7 from %i to %four : tensor<index>
  // GENERIC: %j = "tg_legacy.range"(%i, %four) <{axis = #tg.number<7>}> : (tensor<index>, tensor<index>) -> tensor<index>
  %j = tg_legacy.range 7 from %i to %four : tensor<index>
  // CHECK: %k = tg_legacy.range 1 from %n to %n : tensor<i32>
  // GENERIC: %k = "tg_legacy.range"(%n, %n) <{axis = #tg.number<1>}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %k = tg_legacy.range 1 from %n to %n : tensor<i32>
  // CHECK: %empty = tg_legacy.range 2 from %four to %four : tensor<index>
  // GENERIC: %empty = "tg_legacy.range"(%four, %four) <{axis = #tg.number<2>}> : (tensor<index>, tensor<index>) -> tensor<index>
  %empty = tg_legacy.range 2 from %four to %four : tensor<index>
  func.return
}

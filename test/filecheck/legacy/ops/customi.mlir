// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<i32>, %y: tensor<i32>) {
  // CHECK: %0 = tg_legacy.customi "popcount({0})"(%x) : tensor<i32>
  // GENERIC: %0 = "tg_legacy.customi"(%x) <{fmt = "popcount({0})"}> : (tensor<i32>) -> tensor<i32>
  %0 = tg_legacy.customi "popcount({0})"(%x) : tensor<i32>
  // CHECK: %1 = tg_legacy.customi "({} < {})"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // GENERIC: %1 = "tg_legacy.customi"(%x, %y) <{fmt = "({} < {})"}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = tg_legacy.customi "({} < {})"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  func.return
}

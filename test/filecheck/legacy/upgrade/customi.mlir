// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s

// CUSTOMI: `tg.custom` that is written where its value is used.

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %y = tg.custom "popcount({0})"(%x) {inline} : tensor<i32>
// CHECK-NEXT: func.return %y : tensor<i32>
func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %y = tg_legacy.customi "popcount({0})"(%x) : tensor<i32>
  func.return %y : tensor<i32>
}

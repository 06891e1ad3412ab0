// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s

// CUSTOM: `tg.custom`, which executes only where the caller allows it. A statement in a kernel is an effect.

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %y = tg.custom "f({0})"(%x) : tensor<i32>
// CHECK-NEXT: func.return %y : tensor<i32>
func.func @main(%x: tensor<i32>) -> tensor<i32> {
  %y = tg_legacy.custom "f({0})"(%x) : tensor<i32>
  func.return %y : tensor<i32>
}

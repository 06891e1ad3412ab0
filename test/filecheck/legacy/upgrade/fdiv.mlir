// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,-7,0 --input 4,2,0 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,-7,0 --input 4,2,0 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[0.25, -3.5, nan]> : tensor<3xf32>

// FDIV: DIV.

func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %r = tg.div %x, %y : tensor<3xf32>
  // CHECK-NEXT: func.return %r : tensor<3xf32>
  %r = tg_legacy.fdiv %x, %y : tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<4> : tensor<i32>
// RESULT-NEXT: dense<[3, 1]> : tensor<2xi32>

// GEP of a tensor: there is no VCONST, so that the positions are stacked.

func.func @main(%v: tensor<4xi32>) -> (tensor<i32>, tensor<2xi32>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %0 = tg.const 3 : tensor<index>
  // CHECK-NEXT: %d = tg.index %v[%0] : (tensor<4xi32>, tensor<index>) -> tensor<i32>
  // CHECK-NEXT: %1 = tg.const 2 : tensor<index>
  // CHECK-NEXT: %2 = tg.const 0 : tensor<index>
  // CHECK-NEXT: %3 = tg.stack %1, %2 : (tensor<index>, tensor<index>) -> tensor<2xindex>
  // CHECK-NEXT: %ca = tg.index %v[%3] : (tensor<4xi32>, tensor<2xindex>) -> tensor<2xi32>
  // CHECK-NEXT: func.return %d, %ca : tensor<i32>, tensor<2xi32>
  %d = tg_legacy.gep %v [3] : tensor<4xi32> -> tensor<i32>
  %ca = tg_legacy.gep %v [2, 0] : tensor<4xi32> -> tensor<2xi32>
  func.return %d, %ca : tensor<i32>, tensor<2xi32>
}

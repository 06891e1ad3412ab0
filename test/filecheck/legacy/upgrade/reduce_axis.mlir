// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4,5,6 --input 2,0.5,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4,5,6 --input 2,0.5,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<{{\[\[}}6], [15]]> : tensor<2x1xi32>
// RESULT-NEXT: dense<{{\[\[}}4, 5, 6]]> : tensor<1x3xi32>
// RESULT-NEXT: dense<[4.0]> : tensor<1xf32>

// REDUCE_AXIS: REDUCE. Its axes become 1.

func.func @main(%x: tensor<2x3xi32>, %y: tensor<3xf32>) -> (tensor<2x1xi32>, tensor<1x3xi32>, tensor<1xf32>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %rows = tg.reduce add %x [1] : tensor<2x3xi32> -> tensor<2x1xi32>
  // CHECK-NEXT: %columns = tg.reduce max %x [0] : tensor<2x3xi32> -> tensor<1x3xi32>
  // CHECK-NEXT: %product = tg.reduce mul %y [0] : tensor<3xf32> -> tensor<1xf32>
  // CHECK-NEXT: func.return %rows, %columns, %product : tensor<2x1xi32>, tensor<1x3xi32>, tensor<1xf32>
  %rows = tg_legacy.reduce_axis add %x [1] : tensor<2x3xi32> -> tensor<2x1xi32>
  %columns = tg_legacy.reduce_axis max %x [0] : tensor<2x3xi32> -> tensor<1x3xi32>
  %product = tg_legacy.reduce_axis mul %y [0] : tensor<3xf32> -> tensor<1xf32>
  func.return %rows, %columns, %product : tensor<2x1xi32>, tensor<1x3xi32>, tensor<1xf32>
}

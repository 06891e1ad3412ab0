// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input=-1,-2,-3,-4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input=-1,-2,-3,-4 --target cpu | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input=-1,-2,-3,-4 --target c | filecheck %s --check-prefix=RESULT
// RESULT: dense<[0, -1, -2, -3, -4, 0]> : tensor<6xi32>
// RESULT-NEXT: dense<[0]> : tensor<1xi32>

// PAD and SHRINK have pairs of numbers, and PAD makes zeros, which a reduction sees.

// CHECK: %p = tg.pad %x at [1] to [6] fill 0 : i32 : tensor<4xi32> -> tensor<6xi32>
// CHECK: %m = tg.reduce max %p [0] : tensor<6xi32> -> tensor<1xi32>
func.func @main(%x: tensor<4xi32>) -> (tensor<6xi32>, tensor<1xi32>) {
  %p = tg_legacy.pad %x [[1, 1]] : tensor<4xi32> -> tensor<6xi32>
  %m = tg_legacy.reduce_axis max %p [0] : tensor<6xi32> -> tensor<1xi32>
  func.return %p, %m : tensor<6xi32>, tensor<1xi32>
}

// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4,5,6 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4,5,6 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<{{\[\[}}5, 6]]> : tensor<1x2xi32>

// SHRINK has the first index of an axis and the one after the last.

// CHECK: %r = tg.shrink %x at [1, 1] to [1, 2] : tensor<2x3xi32> -> tensor<1x2xi32>
func.func @main(%x: tensor<2x3xi32>) -> tensor<1x2xi32> {
  %r = tg_legacy.shrink %x [[1, 2], [1, 3]] : tensor<2x3xi32> -> tensor<1x2xi32>
  func.return %r : tensor<1x2xi32>
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s --check-prefix=UPGRADED
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// UPGRADED: %r = tg.expand %v [2, 2] : tensor<2x1xi32> -> tensor<2x2xi32>
// RESULT: dense<{{\[\[}}3, 3], [7, 7]]> : tensor<2x2xi32>

// The sums of the rows, twice.
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %v = tg_legacy.reduce_axis add %x [1] : tensor<2x2xi32> -> tensor<2x1xi32>
  // CHECK: %r = tg.expand %v [2, 2] : tensor<2x1xi32> -> tensor<2x2xi32>
  %r = tg.expand %v [2, 2] : tensor<2x1xi32> -> tensor<2x2xi32>
  func.return %r : tensor<2x2xi32>
}

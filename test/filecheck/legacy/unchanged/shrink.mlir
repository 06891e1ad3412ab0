// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s --check-prefix=UPGRADED
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// UPGRADED: %r = tg.shrink %v at [1, 0] to [1, 2] : tensor<2x2xi32> -> tensor<1x2xi32>
// RESULT: dense<{{\[\[}}2, 4]]> : tensor<1x2xi32>

// The second row of the transpose.
func.func @main(%x: tensor<2x2xi32>) -> tensor<1x2xi32> {
  %v = tg_legacy.view %x [#tg_legacy.view<[2, 2], strides = [1, 2]>] : tensor<2x2xi32>
  // CHECK: %r = tg.shrink %v at [1, 0] to [1, 2] : tensor<2x2xi32> -> tensor<1x2xi32>
  %r = tg.shrink %v at [1, 0] to [1, 2] : tensor<2x2xi32> -> tensor<1x2xi32>
  func.return %r : tensor<1x2xi32>
}

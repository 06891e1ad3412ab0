// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s --check-prefix=UPGRADED
// RUN: tg-run %s --input 1,2 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2 --target cpu | filecheck %s --check-prefix=RESULT
// UPGRADED: %r = tg.pad %v at [1] to [4] fill 0 : i32 : tensor<2xi32> -> tensor<4xi32>
// RESULT: dense<[0, 2, 1, 0]> : tensor<4xi32>

// Both elements, backward, between two zeros: the older PAD makes zeros, not invalid cells.
func.func @main(%x: tensor<2xi32>) -> tensor<4xi32> {
  %v = tg_legacy.view %x [#tg_legacy.view<[2], strides = [-1], offset = 1>] : tensor<2xi32>
  // CHECK: %r = tg.pad %v at [1] to [4] fill 0 : i32 : tensor<2xi32> -> tensor<4xi32>
  %r = tg.pad %v at [1] to [4] fill 0 : i32 : tensor<2xi32> -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

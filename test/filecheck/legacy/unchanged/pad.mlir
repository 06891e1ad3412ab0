// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// Both elements, backward, between two zeros: the older PAD makes zeros, not invalid cells.
func.func @main(%x: tensor<2xi32>) -> tensor<4xi32> {
  %v = tg_legacy.view %x [#tg_legacy.view<[2], strides = [-1], offset = 1>] : tensor<2xi32>
  // CHECK: %r = tg.pad %v at [1] to [4] fill 0 : i32 : tensor<2xi32> -> tensor<4xi32>
  %r = tg.pad %v at [1] to [4] fill 0 : i32 : tensor<2xi32> -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// The second row of the transpose.
func.func @main(%x: tensor<2x2xi32>) -> tensor<1x2xi32> {
  %v = tg_legacy.view %x [#tg_legacy.view<[2, 2], strides = [1, 2]>] : tensor<2x2xi32>
  // CHECK: %r = tg.shrink %v at [1, 0] to [1, 2] : tensor<2x2xi32> -> tensor<1x2xi32>
  %r = tg.shrink %v at [1, 0] to [1, 2] : tensor<2x2xi32> -> tensor<1x2xi32>
  func.return %r : tensor<1x2xi32>
}

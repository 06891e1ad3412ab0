// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// The sums of the rows, twice.
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %v = tg_legacy.reduce_axis add %x [1] : tensor<2x2xi32> -> tensor<2x1xi32>
  // CHECK: %r = tg.expand %v [2, 2] : tensor<2x1xi32> -> tensor<2x2xi32>
  %r = tg.expand %v [2, 2] : tensor<2x1xi32> -> tensor<2x2xi32>
  func.return %r : tensor<2x2xi32>
}

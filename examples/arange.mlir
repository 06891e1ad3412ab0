// [0, 1, ..., n - 1], from nothing but the constant 1.
//
// The specification: prefix_sum(Tensor(1).reshape(1).expand(n)) - 1.

// RUN: tg-run %s --target=interpreter | filecheck %s
// RUN: tg-run %s --target=cpu | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<[0, 1, 2, 3, 4, 5, 6]> : tensor<7xi32>

func.func @main() -> tensor<7xi32> {
  %one = tg.const 1 : tensor<i32>
  %single = tg.reshape %one [1] : tensor<i32> -> tensor<1xi32>
  %ones = tg.expand %single [7] : tensor<1xi32> -> tensor<7xi32>

  // prefix_sum of the ones: [1, 2, ..., n]
  %padded = tg.pad %ones at [6] to [13] : tensor<7xi32> -> tensor<13xi32>
  %row = tg.reshape %padded [1, 13] : tensor<13xi32> -> tensor<1x13xi32>
  %tiled = tg.expand %row [8, 13] : tensor<1x13xi32> -> tensor<8x13xi32>
  %flat = tg.reshape %tiled [104] : tensor<8x13xi32> -> tensor<104xi32>
  %trimmed = tg.shrink %flat at [0] to [98] : tensor<104xi32> -> tensor<98xi32>
  %sliding = tg.reshape %trimmed [7, 14] : tensor<98xi32> -> tensor<7x14xi32>
  %windows = tg.shrink %sliding at [0, 0] to [7, 7] : tensor<7x14xi32> -> tensor<7x7xi32>
  %sums = tg.reduce add %windows [1] : tensor<7x7xi32> -> tensor<7x1xi32>
  %counts = tg.reshape %sums [7] : tensor<7x1xi32> -> tensor<7xi32>

  %result = tg.sub %counts, %one : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  return %result : tensor<7xi32>
}

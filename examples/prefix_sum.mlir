// The cumulative sum of T[n].
//
// The specification: pad n - 1 cells in front, which are invalid, so that the reduction skips them;
// repeat the 2n - 1 cells n + 1 times; cut the repetition into n rows of 2n, each of which begins one
// cell later than the one before; keep the first n cells of each row, and sum the rows.

// RUN: tg-run %s --target=interpreter --input 5xf32=1,2,3.5,-4,0.25 | filecheck %s
// RUN: tg-run %s --target=cpu --input 5xf32=1,2,3.5,-4,0.25 | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<[1.0, 3.0, 6.5, 2.5, 2.75]> : tensor<5xf32>

func.func @main(%t: tensor<5xf32>) -> tensor<5xf32> {
  %padded = tg.pad %t at [4] to [9] : tensor<5xf32> -> tensor<9xf32>
  %row = tg.reshape %padded [1, 9] : tensor<9xf32> -> tensor<1x9xf32>
  %tiled = tg.expand %row [6, 9] : tensor<1x9xf32> -> tensor<6x9xf32>
  %flat = tg.reshape %tiled [54] : tensor<6x9xf32> -> tensor<54xf32>
  %trimmed = tg.shrink %flat at [0] to [50] : tensor<54xf32> -> tensor<50xf32>
  %sliding = tg.reshape %trimmed [5, 10] : tensor<50xf32> -> tensor<5x10xf32>
  %windows = tg.shrink %sliding at [0, 0] to [5, 5] : tensor<5x10xf32> -> tensor<5x5xf32>
  %sums = tg.reduce add %windows [1] : tensor<5x5xf32> -> tensor<5x1xf32>
  %result = tg.reshape %sums [5] : tensor<5x1xf32> -> tensor<5xf32>
  return %result : tensor<5xf32>
}

// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify)' | filecheck %s

// An arange of 5 in 8 cells: where it is, the condition says that no window wraps, and the sum is a line.

// CHECK-LABEL: tg.kernel
// CHECK-NOT: tg.reduce
// CHECK-NOT: tg.mod
// CHECK: tg.store
func.func @main() -> tensor<8xi32> {
  %one = tg.const 1 : tensor<i32>
  %line = tg.reshape %one [1] : tensor<i32> -> tensor<1xi32>
  %ones = tg.expand %line [5] : tensor<1xi32> -> tensor<5xi32>
  %padded = tg.pad %ones at [4] to [9] : tensor<5xi32> -> tensor<9xi32>
  %row = tg.reshape %padded [1, 9] : tensor<9xi32> -> tensor<1x9xi32>
  %rows = tg.expand %row [6, 9] : tensor<1x9xi32> -> tensor<6x9xi32>
  %flat = tg.reshape %rows [54] : tensor<6x9xi32> -> tensor<54xi32>
  %cut = tg.shrink %flat at [0] to [50] : tensor<54xi32> -> tensor<50xi32>
  %sliding = tg.reshape %cut [5, 10] : tensor<50xi32> -> tensor<5x10xi32>
  %windows = tg.shrink %sliding at [0, 0] to [5, 5] : tensor<5x10xi32> -> tensor<5x5xi32>
  %counts = tg.reduce add %windows [1] : tensor<5x5xi32> -> tensor<5x1xi32>
  %arange = tg.reshape %counts [5] : tensor<5x1xi32> -> tensor<5xi32>
  %result = tg.pad %arange at [0] to [8] fill 0 : i32 : tensor<5xi32> -> tensor<8xi32>
  func.return %result : tensor<8xi32>
}

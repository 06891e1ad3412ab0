// Eight uniform random floats in [0, 1) from a key.
//
// THREEFRY takes a counter and a key to 64 random bits, which are two words of 32. 23 bits of each
// under the exponent of 1.0 are a float in [1, 2); less 1 it is in [0, 1), exactly.

// RUN: tg-run %s --target=interpreter --input 1 | filecheck %s
// RUN: tg-run %s --target=cpu --input 1 | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<[0.7039436, 0.5895256, 0.05771494, 0.17780912, 0.010115147, 0.5007298, 0.9265834, 0.87212086]> : tensor<8xf32>

func.func @main(%key: tensor<ui64>) -> tensor<8xf32> {
  // arange(4)
  %one = tg.const 1 : tensor<i32>
  %single = tg.reshape %one [1] : tensor<i32> -> tensor<1xi32>
  %ones = tg.expand %single [4] : tensor<1xi32> -> tensor<4xi32>
  %padded = tg.pad %ones at [3] to [7] : tensor<4xi32> -> tensor<7xi32>
  %row = tg.reshape %padded [1, 7] : tensor<7xi32> -> tensor<1x7xi32>
  %tiled = tg.expand %row [5, 7] : tensor<1x7xi32> -> tensor<5x7xi32>
  %flat = tg.reshape %tiled [35] : tensor<5x7xi32> -> tensor<35xi32>
  %trimmed = tg.shrink %flat at [0] to [32] : tensor<35xi32> -> tensor<32xi32>
  %sliding = tg.reshape %trimmed [4, 8] : tensor<32xi32> -> tensor<4x8xi32>
  %windows = tg.shrink %sliding at [0, 0] to [4, 4] : tensor<4x8xi32> -> tensor<4x4xi32>
  %sums = tg.reduce add %windows [1] : tensor<4x4xi32> -> tensor<4x1xi32>
  %counts = tg.reshape %sums [4] : tensor<4x1xi32> -> tensor<4xi32>
  %arange = tg.sub %counts, %one : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>

  %counters = tg.cast %arange to ui64 : tensor<4xi32> -> tensor<4xui64>
  %random = tg.threefry %counters, %key : (tensor<4xui64>, tensor<ui64>) -> tensor<4xui64>
  %words = tg.bitcast %random to ui32 : tensor<4xui64> -> tensor<8xui32>

  %nine = tg.const 9 : tensor<ui32>
  %exponent = tg.const 0x3F800000 : tensor<ui32>
  %mantissas = tg.shr %words, %nine : (tensor<8xui32>, tensor<ui32>) -> tensor<8xui32>
  %bits = tg.or %mantissas, %exponent : (tensor<8xui32>, tensor<ui32>) -> tensor<8xui32>
  %floats = tg.bitcast %bits to f32 : tensor<8xui32> -> tensor<8xf32>
  %start = tg.const 1.0 : tensor<f32>
  %result = tg.sub %floats, %start : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %result : tensor<8xf32>
}

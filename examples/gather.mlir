// out[i] = T[idx[i]], for T[K] and idx[D].
//
// The specification: compare arange(K), as a column, with idx, as a row; the one-hot mask times T,
// summed over K.

// RUN: tg-run %s --target=interpreter --input 4xf32=10,20,30,40 --input 6xi32=3,0,2,2,1,3 | filecheck %s
// RUN: tg-run %s --target=cpu --input 4xf32=10,20,30,40 --input 6xi32=3,0,2,2,1,3 | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<[40.0, 10.0, 30.0, 30.0, 20.0, 40.0]> : tensor<6xf32>

// An index that is out of range selects nothing: the sum over an empty mask is 0.
// RUN: tg-run %s --target=interpreter --input 4xf32=10,20,30,40 --input 6xi32=4,-1,2,2,1,3 | filecheck %s --check-prefix=OUTSIDE
// RUN: tg-run %s --target=cpu --input 4xf32=10,20,30,40 --input 6xi32=4,-1,2,2,1,3 | filecheck %s --check-prefix=OUTSIDE
// OUTSIDE: dense<[0.0, 0.0, 30.0, 30.0, 20.0, 40.0]> : tensor<6xf32>

func.func @main(%t: tensor<4xf32>, %idx: tensor<6xi32>) -> tensor<6xf32> {
  // arange(K)
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

  // mask[k, d] = 1 where k = idx[d]
  %pos = tg.reshape %arange [4, 1] : tensor<4xi32> -> tensor<4x1xi32>
  %wanted = tg.reshape %idx [1, 6] : tensor<6xi32> -> tensor<1x6xi32>
  %equal = tg.cmpeq %pos, %wanted : (tensor<4x1xi32>, tensor<1x6xi32>) -> tensor<4x6xi1>
  %mask = tg.cast %equal to f32 : tensor<4x6xi1> -> tensor<4x6xf32>

  %column = tg.reshape %t [4, 1] : tensor<4xf32> -> tensor<4x1xf32>
  %selected = tg.mul %column, %mask : (tensor<4x1xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %total = tg.reduce add %selected [0] : tensor<4x6xf32> -> tensor<1x6xf32>
  %result = tg.reshape %total [6] : tensor<1x6xf32> -> tensor<6xf32>
  return %result : tensor<6xf32>
}

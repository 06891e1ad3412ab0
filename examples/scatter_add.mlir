// T[idx[i]] += val[i], for T[K], idx[D] and val[D]; an index may occur more than once.
//
// The specification: the mask of gather times val, summed over D, plus T.

// RUN: tg-run %s --target=interpreter --input 3xf32=100,200,300 --input 5xi32=2,0,2,2,0 --input 5xf32=1,2,3,4,0.5 | filecheck %s
// RUN: tg-run %s --target=cpu --input 3xf32=100,200,300 --input 5xi32=2,0,2,2,0 --input 5xf32=1,2,3,4,0.5 | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<[102.5, 200.0, 308.0]> : tensor<3xf32>

func.func @main(%t: tensor<3xf32>, %idx: tensor<5xi32>, %val: tensor<5xf32>) -> tensor<3xf32> {
  // arange(K)
  %one = tg.const 1 : tensor<i32>
  %single = tg.reshape %one [1] : tensor<i32> -> tensor<1xi32>
  %ones = tg.expand %single [3] : tensor<1xi32> -> tensor<3xi32>
  %padded = tg.pad %ones at [2] to [5] : tensor<3xi32> -> tensor<5xi32>
  %row = tg.reshape %padded [1, 5] : tensor<5xi32> -> tensor<1x5xi32>
  %tiled = tg.expand %row [4, 5] : tensor<1x5xi32> -> tensor<4x5xi32>
  %flat = tg.reshape %tiled [20] : tensor<4x5xi32> -> tensor<20xi32>
  %trimmed = tg.shrink %flat at [0] to [18] : tensor<20xi32> -> tensor<18xi32>
  %sliding = tg.reshape %trimmed [3, 6] : tensor<18xi32> -> tensor<3x6xi32>
  %windows = tg.shrink %sliding at [0, 0] to [3, 3] : tensor<3x6xi32> -> tensor<3x3xi32>
  %sums = tg.reduce add %windows [1] : tensor<3x3xi32> -> tensor<3x1xi32>
  %counts = tg.reshape %sums [3] : tensor<3x1xi32> -> tensor<3xi32>
  %arange = tg.sub %counts, %one : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>

  // mask[k, d] = 1 where k = idx[d]
  %pos = tg.reshape %arange [3, 1] : tensor<3xi32> -> tensor<3x1xi32>
  %wanted = tg.reshape %idx [1, 5] : tensor<5xi32> -> tensor<1x5xi32>
  %equal = tg.cmpeq %pos, %wanted : (tensor<3x1xi32>, tensor<1x5xi32>) -> tensor<3x5xi1>
  %mask = tg.cast %equal to f32 : tensor<3x5xi1> -> tensor<3x5xf32>

  %values = tg.reshape %val [1, 5] : tensor<5xf32> -> tensor<1x5xf32>
  %selected = tg.mul %mask, %values : (tensor<3x5xf32>, tensor<1x5xf32>) -> tensor<3x5xf32>
  %total = tg.reduce add %selected [1] : tensor<3x5xf32> -> tensor<3x1xf32>
  %added = tg.reshape %total [3] : tensor<3x1xf32> -> tensor<3xf32>
  %result = tg.add %t, %added : tensor<3xf32>
  return %result : tensor<3xf32>
}

// RUN: tg-opt %s -p 'tg-callify,tg-rangeify' | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=opencl}' | filecheck %s --check-prefix=GRID

// A scatter into each row: an iteration of the loop over rows clears the cells of its row and then adds to them, with a LOAD and a STORE.

// CHECK-LABEL: tg.kernel @rows_0
// CHECK:         %[[ROW:.*]] = tg.range 0 loop
// CHECK:         %[[CELL:.*]] = tg.range 1 loop
// CHECK:         %[[UPDATE:.*]] = tg.range {{[0-9]+}} reduce
// CHECK:         tg.index %[[OUT:.*]][%[[ROW]], %[[CELL]]]
// CHECK:         %[[CLEARED:.*]] = tg.end %{{.*}} over %[[CELL]] :
// CHECK:         %[[NOW:.*]] = tg.after %[[OUT]], %[[CLEARED]], %[[UPDATE]]
// CHECK:         %[[AT:.*]] = tg.index %[[NOW]][%[[ROW]], %{{.*}}]
// CHECK:         %[[OLD:.*]] = tg.load %[[AT]]
// CHECK:         %[[NEW:.*]] = tg.add %[[OLD]], %{{.*}}
// CHECK:         %[[STORED:.*]] = tg.store %[[AT]], %[[NEW]]
// CHECK:         %[[UPDATED:.*]] = tg.end %[[STORED]] over %[[UPDATE]]
// CHECK:         tg.end %[[UPDATED]] over %[[ROW]]
// CHECK-NOT:     tg.atomicadd

// On a grid the updates are a kernel of their own.

// GRID:          tg.atomicadd

func.func @rows(%at: tensor<16x6xi32>) -> tensor<16x3xf32> {
  // 0, 1, 2: the row sums of a triangle of ones, less one.
  %one = tg.const 1 : tensor<i32>
  %line = tg.reshape %one [1] : tensor<i32> -> tensor<1xi32>
  %ones = tg.expand %line [3] : tensor<1xi32> -> tensor<3xi32>
  %padded = tg.pad %ones at [2] to [5] fill 0 : i32 : tensor<3xi32> -> tensor<5xi32>
  %row = tg.reshape %padded [1, 5] : tensor<5xi32> -> tensor<1x5xi32>
  %rows = tg.expand %row [4, 5] : tensor<1x5xi32> -> tensor<4x5xi32>
  %flat = tg.reshape %rows [20] : tensor<4x5xi32> -> tensor<20xi32>
  %skewed = tg.shrink %flat at [0] to [18] : tensor<20xi32> -> tensor<18xi32>
  %windows = tg.reshape %skewed [3, 6] : tensor<18xi32> -> tensor<3x6xi32>
  %triangle = tg.shrink %windows at [0, 0] to [3, 3] : tensor<3x6xi32> -> tensor<3x3xi32>
  %counts = tg.reduce add %triangle [1] : tensor<3x3xi32> -> tensor<3x1xi32>
  %numbers = tg.sub %counts, %one : (tensor<3x1xi32>, tensor<i32>) -> tensor<3x1xi32>

  %updates = tg.reshape %at [16, 1, 6] : tensor<16x6xi32> -> tensor<16x1x6xi32>
  %hits = tg.cmpeq %updates, %numbers : (tensor<16x1x6xi32>, tensor<3x1xi32>) -> tensor<16x3x6xi1>
  %1 = tg.const 1.0 : tensor<f32>
  %0 = tg.const 0.0 : tensor<f32>
  %terms = tg.where %hits, %1, %0 : (tensor<16x3x6xi1>, tensor<f32>, tensor<f32>) -> tensor<16x3x6xf32>
  %sums = tg.reduce add %terms [2] : tensor<16x3x6xf32> -> tensor<16x3x1xf32>
  %result = tg.reshape %sums [16, 3] : tensor<16x3x1xf32> -> tensor<16x3xf32>
  func.return %result : tensor<16x3xf32>
}

// Many updates of few cells are done in 32 parts, each with cells of its own, which are added up.

// CHECK-LABEL: tg.kernel @parts_0
// CHECK:         tg.param 0 : tensor<32x3x1xf32, #tg.place<global>>
// CHECK-NOT:     tg.atomicadd
// CHECK-LABEL: tg.kernel @parts_1
// CHECK:         tg.reduce add
// CHECK-LABEL: func.func @parts

func.func @parts(%at: tensor<160000xi32>) -> tensor<3x1xf32> {
  %one = tg.const 1 : tensor<i32>
  %line = tg.reshape %one [1] : tensor<i32> -> tensor<1xi32>
  %ones = tg.expand %line [3] : tensor<1xi32> -> tensor<3xi32>
  %padded = tg.pad %ones at [2] to [5] fill 0 : i32 : tensor<3xi32> -> tensor<5xi32>
  %row = tg.reshape %padded [1, 5] : tensor<5xi32> -> tensor<1x5xi32>
  %rows = tg.expand %row [4, 5] : tensor<1x5xi32> -> tensor<4x5xi32>
  %flat = tg.reshape %rows [20] : tensor<4x5xi32> -> tensor<20xi32>
  %skewed = tg.shrink %flat at [0] to [18] : tensor<20xi32> -> tensor<18xi32>
  %windows = tg.reshape %skewed [3, 6] : tensor<18xi32> -> tensor<3x6xi32>
  %triangle = tg.shrink %windows at [0, 0] to [3, 3] : tensor<3x6xi32> -> tensor<3x3xi32>
  %counts = tg.reduce add %triangle [1] : tensor<3x3xi32> -> tensor<3x1xi32>
  %numbers = tg.sub %counts, %one : (tensor<3x1xi32>, tensor<i32>) -> tensor<3x1xi32>

  %hits = tg.cmpeq %at, %numbers : (tensor<160000xi32>, tensor<3x1xi32>) -> tensor<3x160000xi1>
  %1 = tg.const 1.0 : tensor<f32>
  %0 = tg.const 0.0 : tensor<f32>
  %terms = tg.where %hits, %1, %0 : (tensor<3x160000xi1>, tensor<f32>, tensor<f32>) -> tensor<3x160000xf32>
  %sums = tg.reduce add %terms [1] : tensor<3x160000xf32> -> tensor<3x1xf32>
  func.return %sums : tensor<3x1xf32>
}

// RUN: tg-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: @same
// CHECK-NEXT: func.return %x, %x, %x, %x, %x, %x, %x
func.func @same(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = tg.reshape %x [4, 8] : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = tg.expand %x [4, 8] : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = tg.shrink %x at [0, 0] to [4, 8] : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = tg.pad %x at [0, 0] to [4, 8] : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = tg.flip %x [false, false] : tensor<4x8xf32>
  %5 = tg.permute %x [0, 1] : tensor<4x8xf32>
  %6 = tg.bitcast %x to f32 : tensor<4x8xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: @reshape
// CHECK-NEXT: %0 = tg.reshape %x [2, 16]
// CHECK-NEXT: func.return %0, %x
func.func @reshape(%x: tensor<4x8xf32>) -> (tensor<2x16xf32>, tensor<4x8xf32>) {
  %0 = tg.reshape %x [32] : tensor<4x8xf32> -> tensor<32xf32>
  %1 = tg.reshape %0 [2, 16] : tensor<32xf32> -> tensor<2x16xf32>
  %2 = tg.reshape %1 [4, 8] : tensor<2x16xf32> -> tensor<4x8xf32>
  return %1, %2 : tensor<2x16xf32>, tensor<4x8xf32>
}

// A reshape to the extents that are there, whatever they are.
// CHECK-LABEL: @dynamic_reshape
// CHECK-NEXT: func.return %x
func.func @dynamic_reshape(%n: tensor<index> {tg.min = 1 : index, tg.max = 9 : index}, %x: tensor<?x2xf32> {tg.dims = array<i64: 0>}) -> tensor<?x2xf32> {
  %0 = tg.reshape %x [2, %n] : tensor<?x2xf32> -> tensor<2x?xf32>
  %1 = tg.reshape %0 [%n, 2] : tensor<2x?xf32> -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}

// CHECK-LABEL: @permute
// CHECK-NEXT: %0 = tg.permute %x [1, 2, 0]
// CHECK-NEXT: func.return %0, %x
func.func @permute(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2xf32>, tensor<2x3x4xf32>) {
  %0 = tg.permute %x [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %1 = tg.permute %0 [2, 0, 1] : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  %2 = tg.permute %1 [2, 0, 1] : tensor<3x4x2xf32> -> tensor<2x3x4xf32>
  return %1, %2 : tensor<3x4x2xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: @flip
// CHECK-NEXT: %0 = tg.flip %x [true, true, false]
// CHECK-NEXT: func.return %0, %x
func.func @flip(%x: tensor<2x3x1xf32>) -> (tensor<2x3x1xf32>, tensor<2x3x1xf32>) {
  %0 = tg.flip %x [true, false, true] : tensor<2x3x1xf32>
  %1 = tg.flip %0 [false, true, false] : tensor<2x3x1xf32>
  %2 = tg.flip %1 [true, true, true] : tensor<2x3x1xf32>
  return %1, %2 : tensor<2x3x1xf32>, tensor<2x3x1xf32>
}

// CHECK-LABEL: @expand
// CHECK-NEXT: %0 = tg.expand %x [3, 4]
// CHECK-NEXT: func.return %0
func.func @expand(%x: tensor<1x1xf32>) -> tensor<3x4xf32> {
  %0 = tg.expand %x [3, 1] : tensor<1x1xf32> -> tensor<3x1xf32>
  %1 = tg.expand %0 [3, 4] : tensor<3x1xf32> -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// CHECK-LABEL: @window
// CHECK-NEXT: %0 = tg.shrink %x at [3] to [4]
// CHECK-NEXT: %1 = tg.pad %x at [3] to [20] : tensor
// CHECK-NEXT: %2 = tg.pad %x at [3] to [20] fill 1.000000e+00 : f32
// CHECK-NEXT: func.return %0, %1, %2
func.func @window(%x: tensor<10xf32>) -> (tensor<4xf32>, tensor<20xf32>, tensor<20xf32>) {
  %0 = tg.shrink %x at [1] to [8] : tensor<10xf32> -> tensor<8xf32>
  %1 = tg.shrink %0 at [2] to [4] : tensor<8xf32> -> tensor<4xf32>
  %2 = tg.pad %x at [1] to [12] : tensor<10xf32> -> tensor<12xf32>
  %3 = tg.pad %2 at [2] to [20] : tensor<12xf32> -> tensor<20xf32>
  %4 = tg.pad %x at [1] to [12] fill 1.0 : f32 : tensor<10xf32> -> tensor<12xf32>
  %5 = tg.pad %4 at [2] to [20] fill 1.0 : f32 : tensor<12xf32> -> tensor<20xf32>
  return %1, %3, %5 : tensor<4xf32>, tensor<20xf32>, tensor<20xf32>
}

// Cells of another fill are other cells, and -0 is another fill than 0.
// CHECK-LABEL: @other_fill
// CHECK-COUNT-2: tg.pad
// CHECK-COUNT-2: tg.pad
func.func @other_fill(%x: tensor<10xf32>) -> (tensor<20xf32>, tensor<20xf32>) {
  %0 = tg.pad %x at [1] to [12] : tensor<10xf32> -> tensor<12xf32>
  %1 = tg.pad %0 at [2] to [20] fill 1.0 : f32 : tensor<12xf32> -> tensor<20xf32>
  %2 = tg.pad %x at [1] to [12] fill -0.0 : f32 : tensor<10xf32> -> tensor<12xf32>
  %3 = tg.pad %2 at [2] to [20] fill 0.0 : f32 : tensor<12xf32> -> tensor<20xf32>
  return %1, %3 : tensor<20xf32>, tensor<20xf32>
}

// CHECK-LABEL: @shrink_of_pad
// CHECK-NEXT: %0 = tg.pad %x at [2] to [14]
// CHECK-NEXT: %1 = tg.shrink %x at [1] to [5]
// CHECK-NEXT: %2 = tg.shrink %0 at [1] to [5]
// CHECK-NEXT: func.return %x, %1, %2
func.func @shrink_of_pad(%x: tensor<10xf32>) -> (tensor<10xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0 = tg.pad %x at [2] to [14] : tensor<10xf32> -> tensor<14xf32>
  %1 = tg.shrink %0 at [2] to [10] : tensor<14xf32> -> tensor<10xf32>
  %2 = tg.shrink %0 at [3] to [5] : tensor<14xf32> -> tensor<5xf32>
  %3 = tg.shrink %0 at [1] to [5] : tensor<14xf32> -> tensor<5xf32>
  return %1, %2, %3 : tensor<10xf32>, tensor<5xf32>, tensor<5xf32>
}

// CHECK-LABEL: @index_of_stack
// CHECK-NEXT: %0 = tg.index %y[%i]
// CHECK-NEXT: func.return %y, %0
func.func @index_of_stack(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<index>) -> (tensor<4xf32>, tensor<f32>) {
  %c1 = tg.const 1 : tensor<index>
  %0 = tg.stack %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = tg.index %0[%c1] : (tensor<2x4xf32>, tensor<index>) -> tensor<4xf32>
  %2 = tg.index %0[%c1, %i] : (tensor<2x4xf32>, tensor<index>, tensor<index>) -> tensor<f32>
  return %1, %2 : tensor<4xf32>, tensor<f32>
}

// Reading what is out of bounds gives 0, not the last operand.
// CHECK-LABEL: @index_out_of_stack
// CHECK: tg.index %{{.*}}[%c2]
func.func @index_out_of_stack(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c2 = tg.const 2 : tensor<index>
  %0 = tg.stack %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = tg.index %0[%c2] : (tensor<2x4xf32>, tensor<index>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @bitcast
// CHECK-NEXT: %0 = tg.bitcast %x to ui8
// CHECK-NEXT: func.return %0, %x
func.func @bitcast(%x: tensor<4xf32>) -> (tensor<16xui8>, tensor<4xf32>) {
  %0 = tg.bitcast %x to i32 : tensor<4xf32> -> tensor<4xi32>
  %1 = tg.bitcast %0 to ui8 : tensor<4xi32> -> tensor<16xui8>
  %2 = tg.bitcast %1 to f32 : tensor<16xui8> -> tensor<4xf32>
  return %1, %2 : tensor<16xui8>, tensor<4xf32>
}

// Half of a wider cell is invalid, so all of it: the way back is not where it came from.
// CHECK-LABEL: @bitcast_of_invalid
// CHECK: tg.bitcast %{{.*}} to f64
// CHECK: tg.bitcast %{{.*}} to f32
func.func @bitcast_of_invalid(%x: tensor<3xf32>) -> tensor<4xf32> {
  %0 = tg.pad %x at [0] to [4] : tensor<3xf32> -> tensor<4xf32>
  %1 = tg.bitcast %0 to f64 : tensor<4xf32> -> tensor<2xf64>
  %2 = tg.bitcast %1 to f32 : tensor<2xf64> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Memory stays memory: a view of a view is one view of the same cells.
// CHECK-LABEL: @memory
// CHECK-NEXT: %0 = tg.reshape %x [2, 4] : tensor<8xf32, #tg.place<"CPU", global>> -> tensor<2x4xf32, #tg.place<"CPU", global>>
// CHECK-NEXT: %1 = tg.store %0, %y
func.func @memory(%x: tensor<8xf32, #tg.place<"CPU", global>>, %y: tensor<2x4xf32>) {
  %0 = tg.reshape %x [4, 2] : tensor<8xf32, #tg.place<"CPU", global>> -> tensor<4x2xf32, #tg.place<"CPU", global>>
  %1 = tg.reshape %0 [2, 4] : tensor<4x2xf32, #tg.place<"CPU", global>> -> tensor<2x4xf32, #tg.place<"CPU", global>>
  %2 = tg.store %1, %y : tensor<2x4xf32, #tg.place<"CPU", global>>, tensor<2x4xf32>
  %3 = tg.sink %2 : !tg.void
  return
}

// CHECK-LABEL: @index_by_nothing
// CHECK-NEXT: %[[N:.*]] = tg.neg %a
// CHECK-NEXT: func.return %[[N]]
func.func @index_by_nothing(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.index %a[] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tg.neg %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// RUN: tg-opt %s --split-input-file --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-verify{level=kernels})' | filecheck %s

// Each movement op, as what it does to the index.

// CHECK-LABEL: tg.kernel @permute_0
// CHECK:         %[[I:.*]] = tg.range 0
// CHECK:         %[[J:.*]] = tg.range 1
// CHECK:         tg.index %x[%[[J]], %[[I]]]
func.func @permute(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %0 = tg.permute %x [1, 0] : tensor<3x5xf32> -> tensor<5x3xf32>
  func.return %0 : tensor<5x3xf32>
}

// -----

// CHECK-LABEL: tg.kernel @flip_0
// CHECK:         %[[I:.*]] = tg.range 0
// CHECK:         %[[F:.*]] = tg.sub %{{.*}}, %[[I]]
// CHECK:         tg.index %x[%[[F]]]
func.func @flip(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tg.flip %x [true] : tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// -----

// A RESHAPE of what is stored is one of where it is stored: the loops are those of the finer axes, and nothing
// is divided.

// CHECK-LABEL: tg.kernel @reshape_0
// CHECK:         %[[I:.*]] = tg.range 0
// CHECK:         %[[J:.*]] = tg.range 1
// CHECK:         %[[K:.*]] = tg.range 2
// CHECK:         tg.index %x[%[[I]], %[[J]], %[[K]]]
// CHECK:         %[[ROW:.*]] = tg.mul %[[J]], %{{.*}}
// CHECK:         %[[FLAT:.*]] = tg.add %[[ROW]], %[[K]]
// CHECK:         tg.index %out0[%[[I]], %[[FLAT]]]
func.func @reshape(%x: tensor<7x2x3xf32>) -> tensor<7x6xf32> {
  %0 = tg.reshape %x [7, 6] : tensor<7x2x3xf32> -> tensor<7x6xf32>
  func.return %0 : tensor<7x6xf32>
}

// -----

// Elsewhere, axes that one loop goes through are one in a view of the memory, and others that mix go through the row-major
// position.

// CHECK-LABEL: tg.kernel @split_0
// CHECK:         %[[I:.*]] = tg.range 0
// CHECK:         %[[J:.*]] = tg.range 1
// CHECK:         %[[VIEW:.*]] = tg.reshape %x [7, 6] : tensor<7x2x3xf32, #tg.place<global>> -> tensor<7x6xf32, #tg.place<global>>
// CHECK:         tg.index %[[VIEW]][%[[I]], %[[J]]]
func.func @split(%x: tensor<7x2x3xf32>, %y: tensor<7x6xf32>) -> tensor<7x6xf32> {
  %0 = tg.reshape %x [7, 6] : tensor<7x2x3xf32> -> tensor<7x6xf32>
  %1 = tg.add %0, %y : tensor<7x6xf32>
  func.return %1 : tensor<7x6xf32>
}

// CHECK-LABEL: tg.kernel @mixed_0
// CHECK:         %[[I:.*]] = tg.range 0
// CHECK:         %[[J:.*]] = tg.range 1
// CHECK-DAG:     %[[R:.*]] = tg.mod %[[J]], %{{.*}}
// CHECK-DAG:     %[[Q:.*]] = tg.idiv %[[J]], %{{.*}}
// CHECK:         tg.index %x[%[[R]], %[[I]], %[[Q]]]
func.func @mixed(%x: tensor<2x7x3xf32>, %y: tensor<7x6xf32>) -> tensor<7x6xf32> {
  %0 = tg.permute %x [1, 2, 0] : tensor<2x7x3xf32> -> tensor<7x3x2xf32>
  %1 = tg.reshape %0 [7, 6] : tensor<7x3x2xf32> -> tensor<7x6xf32>
  %2 = tg.add %1, %y : tensor<7x6xf32>
  func.return %2 : tensor<7x6xf32>
}

// -----

// A chain of RESHAPEs that comes back to where it began leaves nothing.

// CHECK-LABEL: tg.kernel @back_0
// CHECK:         %[[I:.*]] = tg.range 0
// CHECK:         %[[J:.*]] = tg.range 1
// CHECK-NOT:     tg.idiv
// CHECK:         tg.index %x[%[[I]], %[[J]]]
func.func @back(%x: tensor<6x4xf32>, %y: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = tg.reshape %x [2, 12] : tensor<6x4xf32> -> tensor<2x12xf32>
  %1 = tg.reshape %0 [8, 3] : tensor<2x12xf32> -> tensor<8x3xf32>
  %2 = tg.reshape %1 [6, 4] : tensor<8x3xf32> -> tensor<6x4xf32>
  %3 = tg.add %2, %y : tensor<6x4xf32>
  func.return %3 : tensor<6x4xf32>
}

// -----

// CHECK-LABEL: tg.kernel @expand_0
// CHECK:         %[[I:.*]] = tg.range 0
// CHECK:         %[[J:.*]] = tg.range 1
// CHECK:         %[[Z:.*]] = tg.const 0 : tensor<index>
// CHECK:         tg.index %x[%[[I]], %[[Z]]]
func.func @expand(%x: tensor<3x1xf32>) -> tensor<3x4xf32> {
  %0 = tg.expand %x [3, 4] : tensor<3x1xf32> -> tensor<3x4xf32>
  func.return %0 : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: tg.kernel @shrink_0
// CHECK:         %[[I:.*]] = tg.range 0
// CHECK:         %[[S:.*]] = tg.add %[[I]], %{{.*}}
// CHECK:         tg.index %x[%[[S]]]
func.func @shrink(%x: tensor<8xf32>) -> tensor<3xf32> {
  %0 = tg.shrink %x at [2] to [3] : tensor<8xf32> -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// -----

// An invalid cell of a result is 0.

// CHECK-LABEL: tg.kernel @pad_0
// CHECK:         %[[I:.*]] = tg.range 0
// CHECK:         %[[V:.*]] = tg.and
// CHECK:         %[[L:.*]] = tg.load
// CHECK:         %[[Z:.*]] = tg.const 0.0
// CHECK:         %[[W:.*]] = tg.where %[[V]], %[[L]], %[[Z]]
// CHECK:         tg.store %{{.*}}, %[[W]] :
func.func @pad(%x: tensor<3xf32>) -> tensor<8xf32> {
  %0 = tg.pad %x at [2] to [8] : tensor<3xf32> -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}

// -----

// A reduction takes its identity for an invalid cell.

// CHECK-LABEL: tg.kernel @identity_0
// CHECK:         %[[ID:.*]] = tg.const -inf : tensor<f32>
// CHECK:         %[[W:.*]] = tg.where %{{.*}}, %{{.*}}, %[[ID]]
// CHECK:         tg.reduce max %[[W]]
func.func @identity(%x: tensor<3xf32>) -> tensor<2xf32> {
  %0 = tg.pad %x at [2] to [8] : tensor<3xf32> -> tensor<8xf32>
  %1 = tg.reshape %0 [2, 4] : tensor<8xf32> -> tensor<2x4xf32>
  %2 = tg.reduce max %1 [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %3 = tg.reshape %2 [2] : tensor<2x1xf32> -> tensor<2xf32>
  func.return %3 : tensor<2xf32>
}

// -----

// Cells that are invalid in all of an iteration are no iterations.

// CHECK-LABEL: tg.kernel @skip_0
// CHECK:         %[[N:.*]] = tg.const 3 : tensor<index>
// CHECK:         %[[I:.*]] = tg.range 1 reduce to %[[N]]
// CHECK-NOT:     tg.where
// CHECK:         tg.reduce max %{{.*}} [] over %[[I]]
func.func @skip(%x: tensor<3xf32>) -> tensor<1xf32> {
  %0 = tg.pad %x at [2] to [8] : tensor<3xf32> -> tensor<8xf32>
  %1 = tg.reduce max %0 [0] : tensor<8xf32> -> tensor<1xf32>
  func.return %1 : tensor<1xf32>
}

// -----

// A STORE of the program does not write an invalid cell.

// CHECK-LABEL: tg.kernel @store_0
// CHECK:         %[[V:.*]] = tg.and
// CHECK:         %[[L:.*]] = tg.load
// CHECK:         tg.store %{{.*}}, %[[L]] gate %[[V]]
func.func @store(%x: tensor<3xf32>, %y: tensor<8xf32, #tg.place<"CPU", global>>) {
  %0 = tg.pad %x at [2] to [8] : tensor<3xf32> -> tensor<8xf32>
  %1 = tg.store %y, %0 : tensor<8xf32, #tg.place<"CPU", global>>, tensor<8xf32>
  func.return
}

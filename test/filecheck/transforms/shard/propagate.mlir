// RUN: tg-opt %s -p tg-shard | filecheck %s
// RUN: tg-opt %s -p tg-shard,tg-lower-shards,tg-raise-collectives | filecheck %s --check-prefix=LOWER
// RUN: tg-opt %s -p tg-shard --mlir-print-remarks 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Two dense layers, of which one operand says how it is split.

// By the rows of the batch: each device has all weights, and nothing is sent.
// CHECK-LABEL: func.func @data
// CHECK-SAME:  (%x: tensor<64x32xf32, #tg.place<["A", "B"], axis = 0>>, %w1: tensor<32x128xf32, #tg.place<["A", "B"]>>, %w2: tensor<128x32xf32, #tg.place<["A", "B"]>>) -> tensor<64x1x32xf32, #tg.place<["A", "B"], axis = 0>>
// CHECK-NOT:   tg.copy
// CHECK:       func.return
// LOWER-LABEL: func.func @data
// LOWER-NOT:   shard.
// LOWER:       func.return
// REMARK:      remark: argument 1 is whole on each device
// REMARK:      remark: argument 2 is whole on each device
func.func @data(%x: tensor<64x32xf32> {tg.sharding = #tg.place<["A", "B"], axis = 0>}, %w1: tensor<32x128xf32>, %w2: tensor<128x32xf32>) -> tensor<64x1x32xf32> {
  %0 = func.call @layers(%x, %w1, %w2) : (tensor<64x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>) -> tensor<64x1x32xf32>
  func.return %0 : tensor<64x1x32xf32>
}

// By the columns of the first weight: the second one is split by rows, and its products are summed.
// CHECK-LABEL: func.func @tensor
// CHECK-SAME:  (%x: tensor<64x32xf32, #tg.place<["A", "B"]>>, %w1: tensor<32x128xf32, #tg.place<["A", "B"], axis = 1>>, %w2: tensor<128x32xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<64x1x32xf32, #tg.place<["A", "B"]>>
// CHECK-NOT:   tg.copy
// CHECK:       func.return
// LOWER-LABEL: func.func @tensor
// LOWER:       shard.all_reduce %{{.*}} on @devices grid_axes = [0] : tensor<64x1x32xf32> -> tensor<64x1x32xf32>
// LOWER-NOT:   shard.
// LOWER:       func.return
// REMARK:      remark: argument 0 is whole on each device
// REMARK:      remark: argument 2 is split along axis 0
// REMARK:      remark: all_reduce of tensor<64x1x32xf32>: its operand has 8192 bytes on each of 2 devices, about 10.8 us
func.func @tensor(%x: tensor<64x32xf32>, %w1: tensor<32x128xf32> {tg.sharding = #tg.place<["A", "B"], axis = 1>}, %w2: tensor<128x32xf32>) -> (tensor<64x1x32xf32> {tg.sharding = #tg.place<["A", "B"]>}) {
  %0 = func.call @layers(%x, %w1, %w2) : (tensor<64x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>) -> tensor<64x1x32xf32>
  func.return %0 : tensor<64x1x32xf32>
}

// An op whose result is split otherwise: the rows are exchanged for columns.
// CHECK-LABEL: func.func @annotated_op
// CHECK-SAME:  (%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
// CHECK-NEXT:  tg.permute %x [1, 0]
// CHECK-NEXT:  tg.copy
// CHECK-NEXT:  %[[COLUMNS:.*]] = tg.permute
// CHECK-NEXT:  %[[RESULT:.*]] = tg.exp2 %[[COLUMNS]] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
// CHECK-NEXT:  func.return %[[RESULT]]
// LOWER-LABEL: func.func @annotated_op
// LOWER:       shard.all_to_all
// REMARK:      remark: all_to_all of tensor<4x6xf32>: its operand has 48 bytes on each of 2 devices
func.func @annotated_op(%x: tensor<4x6xf32> {tg.sharding = #tg.place<["A", "B"], axis = 0>}) -> tensor<4x6xf32> {
  %0 = tg.exp2 %x {tg.sharding = #tg.place<["A", "B"], axis = 1>} : tensor<4x6xf32>
  func.return %0 : tensor<4x6xf32>
}

// A result that is split like an input, which the program reads otherwise.
// CHECK-LABEL: func.func @alike
// CHECK-SAME:  (%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %w: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
func.func @alike(
    %x: tensor<4x6xf32> {tg.sharding = #tg.place<["A", "B"], axis = 0>},
    %w: tensor<4x6xf32>) -> (tensor<4x6xf32> {tg.sharding = 1 : i64}) {
  %0 = tg.add %x, %w : tensor<4x6xf32>
  func.return %0 : tensor<4x6xf32>
}

// The input has an annotation, so the result is gathered.
// CHECK-LABEL: func.func @alike_whole
// CHECK-SAME:  (%w: tensor<4x6xf32, #tg.place<["A", "B"]>>, %x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"]>>
// LOWER-LABEL: func.func @alike_whole
// LOWER:       shard.all_gather
func.func @alike_whole(
    %w: tensor<4x6xf32> {tg.sharding = #tg.place<["A", "B"]>},
    %x: tensor<4x6xf32> {tg.sharding = #tg.place<["A", "B"], axis = 0>}) -> (tensor<4x6xf32> {tg.sharding = 0 : i64}) {
  %0 = tg.exp2 %x : tensor<4x6xf32>
  func.return %0 : tensor<4x6xf32>
}

// What no annotation asks for stays as it is.
// CHECK-LABEL: func.func @plain
// CHECK-SAME:  (%x: tensor<4xf32>) -> tensor<4xf32>
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.exp2 %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

func.func private @layers(%x: tensor<64x32xf32>, %w1: tensor<32x128xf32>, %w2: tensor<128x32xf32>) -> tensor<64x1x32xf32> {
  %0 = tg.reshape %x [64, 32, 1] : tensor<64x32xf32> -> tensor<64x32x1xf32>
  %1 = tg.reshape %w1 [1, 32, 128] : tensor<32x128xf32> -> tensor<1x32x128xf32>
  %2 = tg.mul %0, %1 : (tensor<64x32x1xf32>, tensor<1x32x128xf32>) -> tensor<64x32x128xf32>
  %3 = tg.reduce add %2 [1] : tensor<64x32x128xf32> -> tensor<64x1x128xf32>
  %zero = tg.const 0.0 : tensor<f32>
  %4 = tg.max %3, %zero : (tensor<64x1x128xf32>, tensor<f32>) -> tensor<64x1x128xf32>
  %5 = tg.reshape %4 [64, 128, 1] : tensor<64x1x128xf32> -> tensor<64x128x1xf32>
  %6 = tg.reshape %w2 [1, 128, 32] : tensor<128x32xf32> -> tensor<1x128x32xf32>
  %7 = tg.mul %5, %6 : (tensor<64x128x1xf32>, tensor<1x128x32xf32>) -> tensor<64x128x32xf32>
  %8 = tg.reduce add %7 [1] : tensor<64x128x32xf32> -> tensor<64x1x32xf32>
  func.return %8 : tensor<64x1x32xf32>
}

// RUN: tg-opt %s -p tg-lower-shards,tg-raise-collectives | filecheck %s
// RUN: tg-opt %s -p tg-lower-shards | filecheck %s --check-prefix=LOWER

// The collectives as the specification writes them, each as one op.

// CHECK: shard.grid @devices(shape = 2) {tg.devices = ["A", "B"]}

// CHECK-LABEL: func.func @broadcast
// CHECK-SAME:  (%t: tensor<6xf32, #tg.place<"A">>) -> tensor<6xf32> attributes {tg.inputs = [#tg.place<"A">], tg.results = [#tg.place<["A", "B"]>]}
// CHECK-NEXT:  shard.broadcast %t on @devices grid_axes = [0] root = [0] : (tensor<6xf32, #tg.place<"A">>) -> tensor<6xf32>
// CHECK-NEXT:  func.return
// LOWER-LABEL: func.func @broadcast
// LOWER:       shard.scatter %{{.*}} on @devices grid_axes = [0] scatter_axis = 0 root = [0] : (tensor<2x6xf32, #tg.place<"A">>) -> tensor<1x6xf32>
func.func @broadcast(%t: tensor<6xf32, #tg.place<"A">>) -> tensor<6xf32, #tg.place<["A", "B"]>> {
  %0 = tg.reshape %t [1, 6] : tensor<6xf32, #tg.place<"A">> -> tensor<1x6xf32, #tg.place<"A">>
  %1 = tg.expand %0 [2, 6] : tensor<1x6xf32, #tg.place<"A">> -> tensor<2x6xf32, #tg.place<"A">>
  %2 = tg.copy %1 to ["A", "B"] : tensor<2x6xf32, #tg.place<"A">> -> tensor<2x6xf32, #tg.place<["A", "B"], axis = 0>>
  %3 = tg.replicated %2 axis 0 : tensor<2x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6xf32, #tg.place<["A", "B"]>>
  func.return %3 : tensor<6xf32, #tg.place<["A", "B"]>>
}

// CHECK-LABEL: func.func @scatter
// CHECK-NEXT:  shard.scatter %t on @devices grid_axes = [0] scatter_axis = 0 root = [1] : (tensor<6xf32, #tg.place<"B">>) -> tensor<3xf32>
// CHECK-NEXT:  func.return
func.func @scatter(%t: tensor<6xf32, #tg.place<"B">>) -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>> {
  %0 = tg.copy %t to ["A", "B"] : tensor<6xf32, #tg.place<"B">> -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  func.return %0 : tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
}

// CHECK-LABEL: func.func @gather
// CHECK-NEXT:  shard.gather %t on @devices grid_axes = [0] gather_axis = 0 root = [0] : (tensor<3xf32>) -> tensor<6xf32, #tg.place<"A">>
// CHECK-NEXT:  func.return
func.func @gather(%t: tensor<6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6xf32, #tg.place<"A">> {
  %0 = tg.copy %t to "A" : tensor<6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6xf32, #tg.place<"A">>
  func.return %0 : tensor<6xf32, #tg.place<"A">>
}

// CHECK-LABEL: func.func @reduce
// CHECK-NEXT:  shard.reduce %t on @devices grid_axes = [0] root = [0] : (tensor<3xf32>) -> tensor<3xf32, #tg.place<"A">>
// CHECK-NEXT:  func.return
// LOWER-LABEL: func.func @reduce
// LOWER:       shard.gather
func.func @reduce(%t: tensor<6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<3xf32, #tg.place<"A">> {
  %0 = tg.copy %t to "A" : tensor<6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6xf32, #tg.place<"A">>
  %1 = tg.reshape %0 [2, 3] : tensor<6xf32, #tg.place<"A">> -> tensor<2x3xf32, #tg.place<"A">>
  %2 = tg.reduce add %1 [0] : tensor<2x3xf32, #tg.place<"A">> -> tensor<1x3xf32, #tg.place<"A">>
  %3 = tg.reshape %2 [3] : tensor<1x3xf32, #tg.place<"A">> -> tensor<3xf32, #tg.place<"A">>
  func.return %3 : tensor<3xf32, #tg.place<"A">>
}

// CHECK-LABEL: func.func @allgather
// CHECK-NEXT:  shard.all_gather %t on @devices grid_axes = [0] gather_axis = 0 : tensor<3xf32> -> tensor<6xf32>
// CHECK-NEXT:  func.return
// LOWER-LABEL: func.func @allgather
// LOWER:       shard.all_to_all %{{.*}} on @devices grid_axes = [0] split_axis = 0 concat_axis = 1 : tensor<2x3xf32> -> tensor<1x6xf32>
func.func @allgather(%t: tensor<6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6xf32, #tg.place<["A", "B"]>> {
  %0 = tg.reshape %t [1, 6] : tensor<6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x6xf32, #tg.place<["A", "B"], axis = 1>>
  %1 = tg.expand %0 [2, 6] : tensor<1x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x6xf32, #tg.place<["A", "B"], axis = 1>>
  %2 = tg.copy %1 to ["A", "B"] : tensor<2x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x6xf32, #tg.place<["A", "B"], axis = 0>>
  %3 = tg.replicated %2 axis 0 : tensor<2x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6xf32, #tg.place<["A", "B"]>>
  func.return %3 : tensor<6xf32, #tg.place<["A", "B"]>>
}

// CHECK-LABEL: func.func @reduce_scatter
// CHECK-NEXT:  shard.reduce_scatter %t on @devices grid_axes = [0] reduction = max scatter_axis = 0 : tensor<4xf32> -> tensor<2xf32>
// CHECK-NOT:   tg.reduce
// LOWER-LABEL: func.func @reduce_scatter
// LOWER:       shard.all_to_all
// LOWER-NEXT:  tg.reduce max
func.func @reduce_scatter(%t: tensor<8xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>> {
  %0 = tg.reshape %t [2, 2, 2] : tensor<8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  %1 = tg.permute %0 [1, 0, 2] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>>
  %2 = tg.copy %1 to ["A", "B"] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  %3 = tg.reduce max %2 [1] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>>
  %4 = tg.reshape %3 [4] : tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return %4 : tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
}

// CHECK-LABEL: func.func @allreduce
// CHECK-NEXT:  shard.all_reduce %t on @devices grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NOT:   shard.
// LOWER-LABEL: func.func @allreduce
// LOWER:       shard.all_to_all
// LOWER:       tg.reduce add
// LOWER:       shard.all_to_all
func.func @allreduce(%t: tensor<8xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"]>> {
  %0 = tg.reshape %t [2, 2, 2] : tensor<8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  %1 = tg.permute %0 [1, 0, 2] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>>
  %2 = tg.copy %1 to ["A", "B"] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  %3 = tg.reduce add %2 [1] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>>
  %4 = tg.reshape %3 [1, 4] : tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>>
  %5 = tg.expand %4 [2, 4] : tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>
  %6 = tg.copy %5 to ["A", "B"] : tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>
  %7 = tg.replicated %6 axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
  func.return %7 : tensor<4xf32, #tg.place<["A", "B"]>>
}

// The part of a sum that each device has is scattered to it at once.
// CHECK-LABEL: func.func @sliced_sum
// CHECK-NEXT:  shard.reduce_scatter %t on @devices grid_axes = [0] scatter_axis = 0 : tensor<4xf32> -> tensor<2xf32>
// CHECK-NEXT:  func.return
// LOWER-LABEL: func.func @sliced_sum
// LOWER:       shard.all_slice
func.func @sliced_sum(%t: tensor<8xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>> {
  %0 = tg.reshape %t [2, 2, 2] : tensor<8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  %1 = tg.permute %0 [1, 0, 2] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>>
  %2 = tg.copy %1 to ["A", "B"] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  %3 = tg.reduce add %2 [1] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>>
  %4 = tg.reshape %3 [1, 4] : tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>>
  %5 = tg.expand %4 [2, 4] : tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>
  %6 = tg.copy %5 to ["A", "B"] : tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>
  %7 = tg.replicated %6 axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
  %8 = tg.copy %7 to ["A", "B"] : tensor<4xf32, #tg.place<["A", "B"]>> -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return %8 : tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
}

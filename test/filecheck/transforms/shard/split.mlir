// RUN: tg-opt %s -p tg-lower-shards,tg-raise-collectives,tg-split-collectives | filecheck %s
// RUN: tg-opt %s -p "tg-lower-shards,tg-raise-collectives,tg-split-collectives{rank=1}" | filecheck %s --check-prefix=RANK1

// What is computed before the all_reduce is one function, what is computed after it another. The second one needs
// the product as well, which the first one returns. A slice of what all devices have begins at the device's number.

// CHECK-LABEL: func.func private @f_part_0
// CHECK-SAME:  (%[[RANK:.*]]: tensor<index> {tg.min = 0 : index, tg.max = 1 : index, tg.name = "rank"}
// CHECK-SAME:  -> (tensor<1xf32>, tensor<4xf32>)
// CHECK:       %[[FOUR:.*]] = tg.const 4 : tensor<index>
// CHECK-NEXT:  %[[START:.*]] = tg.mul %[[RANK]], %[[FOUR]]
// CHECK-NEXT:  %[[OWN:.*]] = tg.shrink %{{.*}} at [%[[START]]] to [4] : tensor<8xf32> -> tensor<4xf32>
// CHECK-NEXT:  %[[PRODUCT:.*]] = tg.mul %{{.*}}, %[[OWN]]
// CHECK-NEXT:  %[[SUM:.*]] = tg.reduce add %[[PRODUCT]] [0]
// CHECK-NEXT:  func.return %[[SUM]], %[[PRODUCT]]
// CHECK-LABEL: func.func private @f_part_1
// CHECK:       tg.div
// CHECK-LABEL: func.func @f
// CHECK-SAME:  tg.inputs = [#tg.place<["A", "B"], axis = 0>, #tg.place<["A", "B"]>, @devices]
// CHECK-NEXT:  %rank = tg.param 0 "rank" min 0 max 1 : tensor<index>
// CHECK-NEXT:  %[[LOCAL:.*]], %[[FIRST:.*]] = func.call @f_part_0(
// CHECK-NEXT:  %[[ALL:.*]] = shard.all_reduce %[[LOCAL]] on @devices
// CHECK-NEXT:  func.call @f_part_1(

// RANK1-LABEL: func.func private @f_part_0
// RANK1:       tg.shrink %{{.*}} at [4] to [4] : tensor<8xf32> -> tensor<4xf32>
// RANK1-LABEL: func.func @f(
// RANK1-SAME:  tg.inputs = [#tg.place<["A", "B"], axis = 0>, #tg.place<["A", "B"]>]
func.func @f(%x: tensor<8xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<8xf32, #tg.place<["A", "B"]>>) -> tensor<8xf32, #tg.place<["A", "B"], axis = 0>> {
  %0 = tg.mul %x, %y : (tensor<8xf32, #tg.place<["A", "B"], axis = 0>>, tensor<8xf32, #tg.place<["A", "B"]>>) -> tensor<8xf32, #tg.place<["A", "B"], axis = 0>>
  %1 = tg.reduce add %0 [0] : tensor<8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1xf32, #tg.place<["A", "B"]>>
  %2 = tg.div %0, %1 : (tensor<8xf32, #tg.place<["A", "B"], axis = 0>>, tensor<1xf32, #tg.place<["A", "B"]>>) -> tensor<8xf32, #tg.place<["A", "B"], axis = 0>>
  func.return %2 : tensor<8xf32, #tg.place<["A", "B"], axis = 0>>
}

// What one device computes is called with its name. A view is computed where it is used.

// CHECK-LABEL: func.func private @on_one_part_0(%x: tensor<4xf32, #tg.place<"A">>) -> tensor<2x4xf32, #tg.place<"A">>
// CHECK:       tg.neg
// CHECK-LABEL: func.func @on_one
// CHECK:       %[[PART:.*]] = func.call @on_one_part_0({{.*}}) {tg.devices = ["A"]}
// CHECK-NEXT:  shard.scatter %[[PART]] on @devices grid_axes = [0] scatter_axis = 0 root = [0]
func.func @on_one(%x: tensor<4xf32, #tg.place<"A">>) -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> {
  %0 = tg.neg %x : tensor<4xf32, #tg.place<"A">>
  %1 = tg.stack %0, %x : (tensor<4xf32, #tg.place<"A">>, tensor<4xf32, #tg.place<"A">>) -> tensor<2x4xf32, #tg.place<"A">>
  %2 = tg.copy %1 to ["A", "B"] : tensor<2x4xf32, #tg.place<"A">> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return %2 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>
}

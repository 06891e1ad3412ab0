// RUN: tg-opt %s -p tg-explicit-broadcast --verify-each=true | filecheck %s

// Leading axes by RESHAPE, then EXPAND; an operand that is wide enough is left alone, and one that two
// ops widen alike is widened once.
// CHECK-LABEL: @static
// CHECK-NEXT: %c = tg.const
// CHECK-NEXT: %[[X:.*]] = tg.expand %x [4, 3] : tensor<4x1xf32> -> tensor<4x3xf32>
// CHECK-NEXT: %[[Y1:.*]] = tg.reshape %y [1, 3] : tensor<3xf32> -> tensor<1x3xf32>
// CHECK-NEXT: %[[Y:.*]] = tg.expand %[[Y1]] [4, 3] : tensor<1x3xf32> -> tensor<4x3xf32>
// CHECK-NEXT: %[[S:.*]] = tg.add %[[X]], %[[Y]] : tensor<4x3xf32>
// CHECK-NEXT: %[[C1:.*]] = tg.reshape %c [1, 1] : tensor<f32> -> tensor<1x1xf32>
// CHECK-NEXT: %[[C:.*]] = tg.expand %[[C1]] [4, 3] : tensor<1x1xf32> -> tensor<4x3xf32>
// CHECK-NEXT: %[[M:.*]] = tg.mul %[[S]], %[[C]] : tensor<4x3xf32>
// CHECK-NEXT: %[[P1:.*]] = tg.reshape %p [1, 1] : tensor<i1> -> tensor<1x1xi1>
// CHECK-NEXT: %[[P:.*]] = tg.expand %[[P1]] [4, 3] : tensor<1x1xi1> -> tensor<4x3xi1>
// CHECK-NEXT: tg.where %[[P]], %[[M]], %[[C]] : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>)
func.func @static(%x: tensor<4x1xf32>, %y: tensor<3xf32>, %p: tensor<i1>) -> tensor<4x3xf32> {
  %c = tg.const 1.5 : tensor<f32>
  %0 = tg.add %x, %y : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = tg.mul %0, %c : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %2 = tg.where %p, %1, %c : (tensor<i1>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// Both operands may have to be widened, and a scalar of rank 0 need only be reshaped to size 1.
// CHECK-LABEL: @ones
// CHECK-NEXT: %[[X:.*]] = tg.reshape %x [1] : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT: tg.add %[[X]], %y : tensor<1xf32>
func.func @ones(%x: tensor<f32>, %y: tensor<1xf32>) -> tensor<1xf32> {
  %0 = tg.add %x, %y : (tensor<f32>, tensor<1xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// CHECK-LABEL: @dynamic
// CHECK: %[[C1:.*]] = tg.reshape %c [1] : tensor<f32> -> tensor<1xf32>
// CHECK-NEXT: %[[C:.*]] = tg.expand %[[C1]] [%n] : tensor<1xf32> -> tensor<?xf32>
// CHECK-NEXT: tg.add %x, %[[C]] : tensor<?xf32>
func.func @dynamic(%n: tensor<index> {tg.min = 1 : index, tg.max = 9 : index}, %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<?xf32> {
  %c = tg.const 1.5 : tensor<f32>
  %0 = tg.add %x, %c : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A view of memory is memory, which the op reads; devices and shards stay where they are.
// CHECK-LABEL: @places
// CHECK: %[[M1:.*]] = tg.reshape %m [1, 3] : tensor<3xf32, #tg.place<"CPU", global>> -> tensor<1x3xf32, #tg.place<"CPU", global>>
// CHECK-NEXT: %[[M:.*]] = tg.expand %[[M1]] [4, 3]
// CHECK-NEXT: tg.add %x, %[[M]] : (tensor<4x3xf32>, tensor<4x3xf32, #tg.place<"CPU", global>>) -> tensor<4x3xf32, #tg.place<"CPU">>
// CHECK-NEXT: %[[S1:.*]] = tg.reshape %s [1, 4] : tensor<4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>>
func.func @places(%x: tensor<4x3xf32>, %m: tensor<3xf32, #tg.place<"CPU", global>>, %y: tensor<2x4xf32>, %s: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> (tensor<4x3xf32, #tg.place<"CPU">>, tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>) {
  %0 = tg.add %x, %m : (tensor<4x3xf32>, tensor<3xf32, #tg.place<"CPU", global>>) -> tensor<4x3xf32, #tg.place<"CPU">>
  %1 = tg.add %y, %s : (tensor<2x4xf32>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>
  return %0, %1 : tensor<4x3xf32, #tg.place<"CPU">>, tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>
}

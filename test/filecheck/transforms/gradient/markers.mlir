// RUN: tg-opt %s -p 'tg-gradient{entry=contiguous},tg-gradient{entry=contiguous_backward},tg-gradient{entry=detach},tg-gradient{entry=copy},tg-gradient{entry=load},tg-gradient{entry=after},tg-gradient{entry=replicated}' --verify-each=true | filecheck %s

// Markers and memory: DETACH stops gradients, CONTIGUOUSBACKWARD makes them contiguous.

// CHECK-LABEL: func.func @contiguous_gradient(
// CHECK-NEXT: func.return %r_gradient
func.func @contiguous(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.contiguous %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @contiguous_backward_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.contiguous %r_gradient
// CHECK-NEXT: func.return %[[V0]]
func.func @contiguous_backward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.contiguous_backward %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @detach_gradient(
// CHECK-NEXT: %d = tg.detach %x
// CHECK-NEXT: %[[V0:.*]] = tg.mul %r_gradient, %d
// CHECK-NEXT: func.return %[[V0]]
func.func @detach(%x: tensor<4xf32>) -> tensor<4xf32> {
  %d = tg.detach %x : tensor<4xf32>
  %r = tg.mul %x, %d : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @copy_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.copy %r_gradient to "A"
// CHECK-NEXT: func.return %[[V0]]
func.func @copy(%x: tensor<4xf32, #tg.place<"A">>) -> tensor<4xf32, #tg.place<"B">> {
  %r = tg.copy %x to "B" : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"B">>
  func.return %r : tensor<4xf32, #tg.place<"B">>
}

// CHECK-LABEL: func.func @load_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0.000000e+00
// CHECK-NEXT: %[[V1:.*]] = tg.where %g, %r_gradient, %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.where %g, %[[V0]], %r_gradient
// CHECK-NEXT: func.return %[[V1]], %[[V2]]
func.func @load(%x: tensor<4xf32>, %a: tensor<4xf32>, %g: tensor<4xi1>) -> tensor<4xf32> {
  %r = tg.load %x alt %a gate %g : tensor<4xf32>, tensor<4xf32>, tensor<4xi1> -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// An AFTER of memory that no effect has written.
// CHECK-LABEL: func.func @after_gradient(
// CHECK:      func.return %{{.*}}, %r_gradient, %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
func.func @after(%x: tensor<4xf32>, %m: tensor<4xf32, #tg.place<"CPU", global>>, %n: tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU">> {
  %t = tg.store %n, %x : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  %b = tg.after %m, %t : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  %r = tg.load %b : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  func.return %r : tensor<4xf32, #tg.place<"CPU">>
}

// The first shard gets the gradient; the others are its copies.
// CHECK-LABEL: func.func @replicated_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.reshape %r_gradient [1, 4]
// CHECK-NEXT: %[[V1:.*]] = tg.pad %[[V0]] at [0, 0] to [2, 4] fill 0.000000e+00 : f32
// CHECK-NEXT: %[[V2:.*]] = tg.copy %[[V1]] to ["A", "B"] : tensor<2x4xf32> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>
// CHECK-NEXT: func.return %[[V2]]
func.func @replicated(%x: tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"]>> {
  %r = tg.replicated %x axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
  func.return %r : tensor<4xf32, #tg.place<["A", "B"]>>
}

// RUN: tg-opt %s -p 'tg-gradient{entry=assign},tg-gradient{entry=over},tg-gradient{entry=calls},tg-gradient{entry=copied}' --verify-each=true | filecheck %s

// The gradient of what an AFTER reads is that of what was stored.
// CHECK-LABEL: func.func @assign_gradient(
// CHECK: func.return %r_gradient
func.func @assign(%x: tensor<2xf32>) -> tensor<2xf32, #tg.place<"CPU">> {
  %b = tg.buffer 0 : tensor<2xf32, #tg.place<"CPU", global>>
  %s = tg.store %b, %x : tensor<2xf32, #tg.place<"CPU", global>>, tensor<2xf32>
  %c = tg.after %b, %s : (tensor<2xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<2xf32, #tg.place<"CPU", global>>
  %r = tg.load %c : tensor<2xf32, #tg.place<"CPU", global>> -> tensor<2xf32, #tg.place<"CPU">>
  return %r : tensor<2xf32, #tg.place<"CPU">>
}

// A STORE to part of a buffer takes the gradient of that part; the rest is the buffer's.
// CHECK-LABEL: func.func @over_gradient(
// CHECK: %[[PART:.*]] = tg.shrink %c_gradient at [1] to [2]
// CHECK: %[[WRITTEN:.*]] = tg.cmpne
// CHECK: %[[REST:.*]] = tg.where %[[WRITTEN]], %{{.*}}, %c_gradient
// CHECK: func.return %[[REST]], %[[PART]]
func.func @over(%m: tensor<4xf32, #tg.place<"CPU", global>>, %x: tensor<2xf32>) -> tensor<4xf32, #tg.place<"CPU", global>> {
  %v = tg.shrink %m at [1] to [2] : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<2xf32, #tg.place<"CPU", global>>
  %s = tg.store %v, %x : tensor<2xf32, #tg.place<"CPU", global>>, tensor<2xf32>
  %c = tg.after %m, %s : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  return %c : tensor<4xf32, #tg.place<"CPU", global>>
}

// The gradient of a CALL is a CALL of its callee's gradient, which is made once.
// CHECK-LABEL: func.func private @f_gradient(
// CHECK-NOT: @f_gradient_0
// CHECK-LABEL: func.func @calls_gradient(
// CHECK: tg.call @f_gradient(
// CHECK: tg.call @f_gradient(%x,
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %n = tg.mul %a, %a : tensor<4xf32>
  return %n : tensor<4xf32>
}
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = tg.call @f(%x) : (tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  %y = tg.gettuple %t 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  %u = tg.call @f(%y) : (tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  %z = tg.gettuple %u 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// A copy of memory that is stored to later is a copy of what a LOAD into memory has read.
// CHECK-LABEL: func.func @copied_gradient(
// CHECK: %[[READ:.*]] = tg.load %m addrspace "global"
// CHECK-NEXT: tg.contiguous %[[READ]]
func.func @copied(%m: tensor<4xf32, #tg.place<"CPU", global>>, %x: tensor<4xf32, #tg.place<"CPU">>) -> tensor<4xf32, #tg.place<"CPU">> {
  %c = tg.contiguous %m : tensor<4xf32, #tg.place<"CPU", global>>
  %s = tg.store %m, %x : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU">>
  %a = tg.after %m, %s : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  %r = tg.mul %c, %a : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU">>
  func.return %r : tensor<4xf32, #tg.place<"CPU">>
}

// RUN: tg-opt %s -p tg-gradient --verify-each=true | filecheck %s

// The gradient of a FUNCTION is a FUNCTION of its arguments and of the gradient of what is used of
// its results. Two uses of an argument add up.
// CHECK-LABEL: func.func @main_gradient(
// CHECK: %[[SIN:.*]] = tg.function(%x, %y)
// CHECK: %[[OUTER:.*]] = tg.mul %r_gradient, %x
// CHECK: %[[BACK:.*]] = tg.function(%x, %y, %[[OUTER]])
// CHECK: %[[G:.*]] = tg.param 2 : tensor<4xf32>
// CHECK: tg.tuple %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[DX:.*]] = tg.gettuple %[[BACK]] 0
// CHECK: %[[SUM:.*]] = tg.add %{{.*}}, %[[DX]]
// CHECK: %[[DY:.*]] = tg.gettuple %[[BACK]] 1
// CHECK: func.return %[[SUM]], %[[DY]]
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %f = tg.function(%x, %y) {
    %a = tg.param 0 : tensor<4xf32>
    %b = tg.param 1 : tensor<4xf32>
    %p = tg.mul %a, %b : tensor<4xf32>
    %s = tg.sin %p : tensor<4xf32>
    %n = tg.neg %a : tensor<4xf32>
    %t = tg.tuple %s, %n : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  } : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  %s = tg.gettuple %f 0 : !tg.tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  %r = tg.mul %s, %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// RUN: tg-opt %s -p 'tg-gradient,tg-gradient{entry=padded}' --verify-each=true | filecheck %s

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

// The body computes an extent of its PARAM, which is unknown outside: the gradient gets the extents
// of the argument.
// CHECK-LABEL: func.func @padded_gradient(
// CHECK: %[[MORE:.*]] = tg.add %n
// CHECK: %[[PART:.*]] = tg.gettuple %{{.*}} 0 : !tg.tuple<tensor<?xf32>>
// CHECK: %[[KNOWN:.*]] = tg.shrink %[[PART]] at [0] to [%[[MORE]]]
// CHECK: tg.add %{{.*}}, %[[KNOWN]]
func.func @padded(%n: tensor<index> {tg.min = 1 : i64, tg.max = 9 : i64}, %x: tensor<?xf32> {tg.dims = array<i64: 0>}) -> tensor<1xf32> {
  %one = tg.const 1 : tensor<index>
  %more = tg.add %n, %one : tensor<index>
  %p = tg.pad %x at [1] to [%more] fill 1.0 : f32 : tensor<?xf32> -> tensor<?xf32>
  %f = tg.function(%n, %p) {
    %m = tg.param 0 min 1 max 9 : tensor<index>
    %1 = tg.const 1 : tensor<index>
    %2 = tg.add %m, %1 : tensor<index>
    %y = tg.param 1(%2) : tensor<?xf32>
    %s = tg.sin %y : tensor<?xf32>
    %a = tg.reduce add %s [0] : tensor<?xf32> -> tensor<1xf32>
    %t = tg.tuple %a : tensor<1xf32> -> !tg.tuple<tensor<1xf32>>
  } : (tensor<index>, tensor<?xf32>) -> !tg.tuple<tensor<1xf32>>
  %a = tg.gettuple %f 0 : !tg.tuple<tensor<1xf32>> -> tensor<1xf32>
  %b = tg.reduce add %p [0] : tensor<?xf32> -> tensor<1xf32>
  %r = tg.mul %a, %b : tensor<1xf32>
  func.return %r : tensor<1xf32>
}

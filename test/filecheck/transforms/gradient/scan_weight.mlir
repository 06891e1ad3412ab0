// RUN: tg-opt %s -p tg-gradient --verify-each=true | filecheck %s

// The gradient of a weight is a product of two small factors in each step. They are stacked, and one
// product after the loop sums over the steps and over the rows. The product of a step is not computed
// again: the forward loop stacks it.

// CHECK-LABEL: func.func @main_gradient(
// CHECK: %[[Q:.*]] = tg.reduce add
// CHECK: tg.tuple %{{.*}}, %{{.*}}, %[[Q]] :
// CHECK: %[[BEGUN:.*]] = tg.gettuple %{{.*}} 1
// CHECK: %[[KEPT:.*]] = tg.gettuple %{{.*}} 2
// CHECK: %[[S:.*]] = tg.scan(%{{.*}}, %[[BEGUN]], %xs, %[[KEPT]], %w) states 1 sequences 3 steps 8 reverse {
// CHECK: tg.tuple {{.*}} -> !tg.tuple<tensor<2x32xf32>, tensor<2x32xf32>>
// CHECK: }
// CHECK: %[[FACTOR:.*]] = tg.gettuple %[[S]] 1 {{.*}} -> tensor<8x2x32xf32>
// CHECK-DAG: tg.reshape %[[BEGUN]] [8, 2, 32, 1]
// CHECK-DAG: tg.reshape %[[FACTOR]] [8, 2, 1, 32]
// CHECK: %[[PRODUCT:.*]] = tg.mul %{{.*}}, %{{.*}} -> tensor<8x2x32x32xf32>
// CHECK: tg.reduce add %[[PRODUCT]] [0, 1]
func.func @main(%h: tensor<2x32xf32>, %xs: tensor<8x2x32xf32>, %w: tensor<32x32xf32>) -> tensor<2x32xf32> {
  %r = tg.scan(%h, %xs, %w) states 1 sequences 1 steps 8 {
    %s = tg.param 0 : tensor<2x32xf32>
    %x = tg.param 1 : tensor<2x32xf32>
    %c = tg.param 2 : tensor<32x32xf32>
    %a = tg.reshape %s [2, 32, 1] : tensor<2x32xf32> -> tensor<2x32x1xf32>
    %b = tg.reshape %c [1, 32, 32] : tensor<32x32xf32> -> tensor<1x32x32xf32>
    %p = tg.mul %a, %b : (tensor<2x32x1xf32>, tensor<1x32x32xf32>) -> tensor<2x32x32xf32>
    %q = tg.reduce add %p [1] : tensor<2x32x32xf32> -> tensor<2x1x32xf32>
    %o = tg.reshape %q [2, 32] : tensor<2x1x32xf32> -> tensor<2x32xf32>
    %n = tg.add %o, %x : tensor<2x32xf32>
    %e = tg.sin %n : tensor<2x32xf32>
    %t = tg.tuple %e : tensor<2x32xf32> -> !tg.tuple<tensor<2x32xf32>>
  } : (tensor<2x32xf32>, tensor<8x2x32xf32>, tensor<32x32xf32>) -> !tg.tuple<tensor<2x32xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<2x32xf32>> -> tensor<2x32xf32>
  func.return %0 : tensor<2x32xf32>
}

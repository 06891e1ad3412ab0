// RUN: tg-opt %s -p tg-gradient --verify-each=true | filecheck %s

// The gradient of a SCAN is a SCAN in the other order. The SCAN itself also gives the states that its
// steps begin with; the states of the other are the gradient of the state, and the sum of those of the
// constant. A step computes the body again.

// CHECK-LABEL: func.func @main_gradient(
// CHECK: %[[F:.*]] = tg.scan(%h, %xs, %w) states 1 sequences 1 steps 8 {
// CHECK: tg.tuple {{%.*}}, {{%.*}} : (tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[BEGUN:.*]] = tg.gettuple %[[F]] 1 {{.*}} -> tensor<8x4xf32>
// CHECK: %[[B:.*]] = tg.scan(%[[G:.*]], %[[ZERO:.*]], %[[BEGUN]], %xs, %w) states 2 sequences 2 steps 8 reverse {
// CHECK: } : (tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>>
func.func @main(%h: tensor<4xf32>, %xs: tensor<8x4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.scan(%h, %xs, %w) states 1 sequences 1 steps 8 {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %c = tg.param 2 : tensor<4xf32>
    %p = tg.mul %s, %c : tensor<4xf32>
    %n = tg.add %p, %x : tensor<4xf32>
    %t = tg.tuple %n : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-verify{level=function})' | filecheck %s

// Values become memory, and results become arguments that are stored.

func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %0 = tg.exp2 %a : tensor<4xf32>
  %1 = tg.reduce add %0 [0] : tensor<4xf32> -> tensor<1xf32>
  %2 = tg.reshape %1 [] : tensor<1xf32> -> tensor<f32>
  func.return %0, %2 : tensor<4xf32>, tensor<f32>
}

// CHECK:      func.func @main(%a: tensor<4xf32, #tg.place<"CPU", global>>, %out0: tensor<4xf32, #tg.place<"CPU", global>> {tg.output}, %out1: tensor<f32, #tg.place<"CPU", global>> {tg.output}) {
// CHECK-NEXT:   %[[E:.*]] = tg.exp2 %a : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
// CHECK-NEXT:   %[[R:.*]] = tg.reduce add %[[E]] [0]
// CHECK-NEXT:   %[[S:.*]] = tg.reshape %[[R]] []
// CHECK-NEXT:   %[[X:.*]] = tg.store %out0, %[[E]]
// CHECK-NEXT:   %[[Y:.*]] = tg.store %out1, %[[S]]
// CHECK-NEXT:   tg.sink %[[X]], %[[Y]] : !tg.void, !tg.void
// CHECK-NEXT:   func.return

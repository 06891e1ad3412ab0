// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<{{\[\[}}4, 5, 6, 7]]> : tensor<1x4xi32>
// RESULT-NEXT: dense<2.5> : tensor<f32>

// CONST with a device: a constant, expanded to the shape of its view, on the device.

func.func @main(%x: tensor<4xi32, #tg.place<"CPU">>) -> (tensor<1x4xi32, #tg.place<"CPU">>, tensor<f32, #tg.place<"CPU">>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %0 = tg.const 3 : tensor<i32>
  // CHECK-NEXT: %1 = tg.reshape %0 [1, 1] : tensor<i32> -> tensor<1x1xi32>
  // CHECK-NEXT: %2 = tg.expand %1 [1, 4] : tensor<1x1xi32> -> tensor<1x4xi32>
  // CHECK-NEXT: %three = tg.copy %2 to "CPU" : tensor<1x4xi32> -> tensor<1x4xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %y = tg.add %x, %three
  // CHECK-NEXT: %3 = tg.const 2.500000e+00 : tensor<f32>
  // CHECK-NEXT: %f = tg.copy %3 to "CPU" : tensor<f32> -> tensor<f32, #tg.place<"CPU">>
  // CHECK-NEXT: func.return %y, %f : tensor<1x4xi32, #tg.place<"CPU">>, tensor<f32, #tg.place<"CPU">>
  %d = tg_legacy.device "CPU"
  %v = tg_legacy.view %d [#tg_legacy.view<[1, 4], strides = [0, 0]>] : !tg.void
  %three = tg_legacy.const 3 : tensor<1x4xi32, #tg.place<"CPU">> on %v
  %y = tg.add %x, %three : (tensor<4xi32, #tg.place<"CPU">>, tensor<1x4xi32, #tg.place<"CPU">>) -> tensor<1x4xi32, #tg.place<"CPU">>
  %w = tg_legacy.view %d [#tg_legacy.view<[]>] : !tg.void
  %f = tg_legacy.const 2.5 : tensor<f32, #tg.place<"CPU">> on %w
  func.return %y, %f : tensor<1x4xi32, #tg.place<"CPU">>, tensor<f32, #tg.place<"CPU">>
}

// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[8, 9]> : tensor<2xi32>

// DEVICE: a part of the types of what is on it.

func.func @main(%x: tensor<2xi32>) -> tensor<2xi32, #tg.place<"CPU">> {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %0 = tg.const 7 : tensor<i32>
  // CHECK-NEXT: %1 = tg.reshape %0 [1] : tensor<i32> -> tensor<1xi32>
  // CHECK-NEXT: %2 = tg.expand %1 [2] : tensor<1xi32> -> tensor<2xi32>
  // CHECK-NEXT: %seven = tg.copy %2 to "CPU" : tensor<2xi32> -> tensor<2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %r = tg.add %x, %seven
  // CHECK-NEXT: func.return %r : tensor<2xi32, #tg.place<"CPU">>
  %d = tg_legacy.device "CPU"
  %v = tg_legacy.view %d [#tg_legacy.view<[2], strides = [0]>] : !tg.void
  %seven = tg_legacy.const 7 : tensor<2xi32, #tg.place<"CPU">> on %v
  %r = tg.add %x, %seven : (tensor<2xi32>, tensor<2xi32, #tg.place<"CPU">>) -> tensor<2xi32, #tg.place<"CPU">>
  func.return %r : tensor<2xi32, #tg.place<"CPU">>
}

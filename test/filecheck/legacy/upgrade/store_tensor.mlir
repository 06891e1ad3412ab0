// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4,5,6 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4,5,6 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
// RESULT-NEXT: dense<[2, 3, 4, 5, 0, 0]> : tensor<6xi32>

// STORE through a VIEW, in a program on tensors: to a movement of the buffer. Where the view is masked nothing is written.

func.func @main(%x: tensor<6xi32>) -> (tensor<3x2xi32, #tg.place<"CPU">>, tensor<6xi32, #tg.place<"CPU">>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %m = tg.buffer 0 : tensor<6xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %rows = tg.reshape %x [2, 3] : tensor<6xi32> -> tensor<2x3xi32>
  // CHECK: %1 = tg.permute %0 [1, 0]
  // CHECK-NEXT: %s = tg.store %1, %rows : tensor<2x3xi32, #tg.place<"CPU", global>>, tensor<2x3xi32>
  %m = tg_legacy.empty : tensor<6xi32, #tg.place<"CPU", global>>
  %t = tg_legacy.view [#tg_legacy.view<[2, 3], strides = [1, 2]>] : !tg.void
  %rows = tg.reshape %x [2, 3] : tensor<6xi32> -> tensor<2x3xi32>
  %s = tg_legacy.store %m at %t value %rows : tensor<6xi32, #tg.place<"CPU", global>> at !tg.void value tensor<2x3xi32>
  %w = tg_legacy.view [#tg_legacy.view<[3, 2]>] : !tg.void
  %y = tg_legacy.load %m at %w after %s : tensor<6xi32, #tg.place<"CPU", global>> at !tg.void after !tg.void -> tensor<3x2xi32, #tg.place<"CPU">>
  // CHECK: %n = tg.buffer 1 : tensor<6xi32, #tg.place<"CPU", global>>
  // CHECK: %clear = tg.store %n, %zeros : tensor<6xi32, #tg.place<"CPU", global>>, tensor<6xi32>
  // CHECK: %5 = tg.shrink %4 at [0] to [4]
  // CHECK-NEXT: %6 = tg.pad %5 at [1] to [6]
  // CHECK-NEXT: %u = tg.store %6, %x : tensor<6xi32, #tg.place<"CPU", global>>, tensor<6xi32>
  %n = tg_legacy.empty : tensor<6xi32, #tg.place<"CPU", global>>
  %zero = tg.const 0 : tensor<i32>
  %row = tg.reshape %zero [1] : tensor<i32> -> tensor<1xi32>
  %zeros = tg.expand %row [6] : tensor<1xi32> -> tensor<6xi32>
  %all = tg_legacy.view [#tg_legacy.view<[6]>] : !tg.void
  %clear = tg_legacy.store %n at %all value %zeros : tensor<6xi32, #tg.place<"CPU", global>> at !tg.void value tensor<6xi32>
  %middle = tg_legacy.view [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>] : !tg.void
  %u = tg_legacy.store %n at %middle value %x after %clear : tensor<6xi32, #tg.place<"CPU", global>> at !tg.void value tensor<6xi32> after !tg.void
  %z = tg_legacy.load %n at %all after %u : tensor<6xi32, #tg.place<"CPU", global>> at !tg.void after !tg.void -> tensor<6xi32, #tg.place<"CPU">>
  func.return %y, %z : tensor<3x2xi32, #tg.place<"CPU">>, tensor<6xi32, #tg.place<"CPU">>
}

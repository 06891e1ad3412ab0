// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4,5,6 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4,5,6 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[4, 5]> : tensor<2xi32>

// BUFFER_VIEW: a part of a buffer is a SHRINK of it.

func.func @main(%m: tensor<6xi32, #tg.place<"CPU", global>>) -> tensor<2xi32, #tg.place<"CPU">> {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %v = tg.shrink %m at [3] to [2]
  // CHECK-NEXT: %r = tg.load %v : tensor<2xi32, #tg.place<"CPU", global>> -> tensor<2xi32, #tg.place<"CPU">>
  %v = tg_legacy.buffer_view %m size 2 offset 3 : tensor<6xi32, #tg.place<"CPU", global>> -> tensor<2xi32, #tg.place<"CPU", global>>
  %r = tg.load %v : tensor<2xi32, #tg.place<"CPU", global>> -> tensor<2xi32, #tg.place<"CPU">>
  func.return %r : tensor<2xi32, #tg.place<"CPU">>
}

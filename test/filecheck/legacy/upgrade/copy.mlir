// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3 --target interpreter | filecheck %s --check-prefix=RESULT
// RESULT: dense<[1, 2, 3]> : tensor<3xi32>
// RESULT-NEXT: dense<[1, 2, 3]> : tensor<3xi32>
// RESULT-NEXT: dense<[1, 2, 3]> : tensor<3xi32>

// COPY: to another device, or as a clone on the same; data that is there already is only read.

func.func @main(%x: tensor<3xi32, #tg.place<"CPU", global>>) -> (tensor<3xi32, #tg.place<"CPU:1">>, tensor<3xi32, #tg.place<"CPU">>, tensor<3xi32, #tg.place<"CPU">>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %moved = tg.copy %x to "CPU:1"
  // CHECK-NEXT: %same = tg.load %x : tensor<3xi32, #tg.place<"CPU", global>> -> tensor<3xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %clone = tg.copy %x to "CPU" clone
  // CHECK-NEXT: func.return %moved, %same, %clone
  %here = tg_legacy.device "CPU"
  %there = tg_legacy.device "CPU:1"
  %moved = tg_legacy.copy %x to %there : tensor<3xi32, #tg.place<"CPU", global>> -> tensor<3xi32, #tg.place<"CPU:1">>
  %same = tg_legacy.copy %x to %here : tensor<3xi32, #tg.place<"CPU", global>> -> tensor<3xi32, #tg.place<"CPU">>
  %clone = tg_legacy.copy %x to %here clone : tensor<3xi32, #tg.place<"CPU", global>> -> tensor<3xi32, #tg.place<"CPU">>
  func.return %moved, %same, %clone : tensor<3xi32, #tg.place<"CPU:1">>, tensor<3xi32, #tg.place<"CPU">>, tensor<3xi32, #tg.place<"CPU">>
}

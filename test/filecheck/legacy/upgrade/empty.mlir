// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[1, 2]> : tensor<2xi32>
// RESULT-NEXT: dense<[2, 4]> : tensor<2xi32>

// EMPTY: a BUFFER. Two are different memory.

func.func @main(%x: tensor<2xi32>) -> (tensor<2xi32, #tg.place<"CPU">>, tensor<2xi32, #tg.place<"CPU">>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %a = tg.buffer 0 : tensor<2xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %b = tg.buffer 1 : tensor<2xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %0 = tg.store %a, %x : tensor<2xi32, #tg.place<"CPU", global>>, tensor<2xi32>
  // CHECK-NEXT: %a1 = tg.after %a, %0
  // CHECK-NEXT: %y = tg.add %a1, %x
  // CHECK-NEXT: %1 = tg.store %b, %y : tensor<2xi32, #tg.place<"CPU", global>>, tensor<2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %b1 = tg.after %b, %1
  // CHECK-NEXT: %ra = tg.load %a1 : tensor<2xi32, #tg.place<"CPU", global>> -> tensor<2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %rb = tg.load %b1 : tensor<2xi32, #tg.place<"CPU", global>> -> tensor<2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: func.return %ra, %rb : tensor<2xi32, #tg.place<"CPU">>, tensor<2xi32, #tg.place<"CPU">>
  %a = tg_legacy.empty : tensor<2xi32, #tg.place<"CPU", global>>
  %b = tg_legacy.empty : tensor<2xi32, #tg.place<"CPU", global>>
  %a1 = tg_legacy.assign %a, %x : (tensor<2xi32, #tg.place<"CPU", global>>, tensor<2xi32>) -> tensor<2xi32, #tg.place<"CPU", global>>
  %y = tg.add %a1, %x : (tensor<2xi32, #tg.place<"CPU", global>>, tensor<2xi32>) -> tensor<2xi32, #tg.place<"CPU">>
  %b1 = tg_legacy.assign %b, %y : (tensor<2xi32, #tg.place<"CPU", global>>, tensor<2xi32, #tg.place<"CPU">>) -> tensor<2xi32, #tg.place<"CPU", global>>
  %ra = tg.load %a1 : tensor<2xi32, #tg.place<"CPU", global>> -> tensor<2xi32, #tg.place<"CPU">>
  %rb = tg.load %b1 : tensor<2xi32, #tg.place<"CPU", global>> -> tensor<2xi32, #tg.place<"CPU">>
  func.return %ra, %rb : tensor<2xi32, #tg.place<"CPU">>, tensor<2xi32, #tg.place<"CPU">>
}

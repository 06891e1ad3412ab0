// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3 --input 10,20,30 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3 --input 10,20,30 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[11, 22, 33]> : tensor<3xi32>
// RESULT-NEXT: dense<[11, 22, 33]> : tensor<3xi32>

// ASSIGN of memory is a STORE and an AFTER.

func.func @memory(%x: tensor<3xi32>, %y: tensor<3xi32>) -> (tensor<3xi32, #tg.place<"CPU">>, tensor<3xi32, #tg.place<"CPU">>) {
  // CHECK-LABEL: func.func @memory(
  // CHECK: %0 = tg.store %m, %x : tensor<3xi32, #tg.place<"CPU", global>>, tensor<3xi32>
  // CHECK-NEXT: %a = tg.after %m, %0
  // CHECK-NEXT: %s = tg.add %a, %y
  // CHECK-NEXT: %1 = tg.store %a, %s : tensor<3xi32, #tg.place<"CPU", global>>, tensor<3xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %b = tg.after %a, %1
  %m = tg_legacy.empty : tensor<3xi32, #tg.place<"CPU", global>>
  %a = tg_legacy.assign %m, %x : (tensor<3xi32, #tg.place<"CPU", global>>, tensor<3xi32>) -> tensor<3xi32, #tg.place<"CPU", global>>
  %s = tg.add %a, %y : (tensor<3xi32, #tg.place<"CPU", global>>, tensor<3xi32>) -> tensor<3xi32, #tg.place<"CPU">>
  %b = tg_legacy.assign %a, %s : (tensor<3xi32, #tg.place<"CPU", global>>, tensor<3xi32, #tg.place<"CPU">>) -> tensor<3xi32, #tg.place<"CPU", global>>
  %t = tg.load %b : tensor<3xi32, #tg.place<"CPU", global>> -> tensor<3xi32, #tg.place<"CPU">>
  func.return %s, %t : tensor<3xi32, #tg.place<"CPU">>, tensor<3xi32, #tg.place<"CPU">>
}

// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[2, 4, 6, 8]> : tensor<4xi32>
// RESULT-NEXT: dense<[1, 2, 3, 4]> : tensor<4xi32>

// BUFFER: memory on a device. One UNIQUE is one buffer, two are different memory.

func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32, #tg.place<"CPU">>, tensor<4xi32, #tg.place<"CPU">>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %a = tg.buffer 0 : tensor<4xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %0 = tg.store %a, %x : tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32>
  // CHECK-NEXT: %a1 = tg.after %a, %0
  // CHECK-NEXT: %b = tg.buffer 1 : tensor<4xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %y = tg.add %a1, %a1
  // CHECK-NEXT: %1 = tg.store %b, %y : tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %b1 = tg.after %b, %1
  // CHECK-NOT: tg.buffer
  %d = tg_legacy.device "CPU"
  %u = tg_legacy.unique 0
  %v = tg_legacy.unique 1
  %a = tg_legacy.buffer %d, %u size 4 : tensor<4xi32, #tg.place<"CPU", global>>
  %a1 = tg_legacy.assign %a, %x : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32>) -> tensor<4xi32, #tg.place<"CPU", global>>
  %b = tg_legacy.buffer %d, %v size 4 : tensor<4xi32, #tg.place<"CPU", global>>
  %y = tg.add %a1, %a1 : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32, #tg.place<"CPU", global>>) -> tensor<4xi32, #tg.place<"CPU">>
  %b1 = tg_legacy.assign %b, %y : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32, #tg.place<"CPU">>) -> tensor<4xi32, #tg.place<"CPU", global>>
  %same = tg_legacy.buffer %d, %u size 4 : tensor<4xi32, #tg.place<"CPU", global>>
  %rb = tg.load %b1 : tensor<4xi32, #tg.place<"CPU", global>> -> tensor<4xi32, #tg.place<"CPU">>
  %ra = tg.load %a1 : tensor<4xi32, #tg.place<"CPU", global>> -> tensor<4xi32, #tg.place<"CPU">>
  func.return %rb, %ra : tensor<4xi32, #tg.place<"CPU">>, tensor<4xi32, #tg.place<"CPU">>
}

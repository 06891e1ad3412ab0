// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[1, 2]> : tensor<2xi32>

// UNIQUE: which BUFFER is meant. The same one, on the same device, is one `tg.buffer`.

func.func @main(%x: tensor<2xi32>) -> tensor<2xi32, #tg.place<"CPU">> {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %a = tg.buffer 0 : tensor<2xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %s = tg.store %a, %x : tensor<2xi32, #tg.place<"CPU", global>>, tensor<2xi32>
  // CHECK-NEXT: %after = tg.after %a, %s
  // CHECK-NEXT: %r = tg.load %after : tensor<2xi32, #tg.place<"CPU", global>> -> tensor<2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: func.return %r : tensor<2xi32, #tg.place<"CPU">>
  %d = tg_legacy.device "CPU"
  %u = tg_legacy.unique 7
  %a = tg_legacy.buffer %d, %u size 2 : tensor<2xi32, #tg.place<"CPU", global>>
  %s = tg.store %a, %x : tensor<2xi32, #tg.place<"CPU", global>>, tensor<2xi32>
  %v = tg_legacy.unique 7
  %b = tg_legacy.buffer %d, %v size 2 : tensor<2xi32, #tg.place<"CPU", global>>
  %after = tg.after %b, %s : (tensor<2xi32, #tg.place<"CPU", global>>, !tg.void) -> tensor<2xi32, #tg.place<"CPU", global>>
  %r = tg.load %after : tensor<2xi32, #tg.place<"CPU", global>> -> tensor<2xi32, #tg.place<"CPU">>
  func.return %r : tensor<2xi32, #tg.place<"CPU">>
}

// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[2, 4]> : tensor<2xi32>

// NOOP: its source, be it a value, memory or an effect.

func.func @main(%x: tensor<2xi32>) -> tensor<2xi32, #tg.place<"CPU">> {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %m = tg.buffer 0 : tensor<2xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %z = tg.add %x, %x : tensor<2xi32>
  // CHECK-NEXT: %s = tg.store %m, %z : tensor<2xi32, #tg.place<"CPU", global>>, tensor<2xi32>
  // CHECK-NEXT: %a = tg.after %m, %s
  // CHECK-NEXT: %r = tg.load %a : tensor<2xi32, #tg.place<"CPU", global>> -> tensor<2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: func.return %r : tensor<2xi32, #tg.place<"CPU">>
  %m = tg_legacy.empty : tensor<2xi32, #tg.place<"CPU", global>>
  %n = tg_legacy.noop %m : tensor<2xi32, #tg.place<"CPU", global>>
  %y = tg_legacy.noop %x : tensor<2xi32>
  %z = tg.add %y, %x : tensor<2xi32>
  %s = tg.store %n, %z : tensor<2xi32, #tg.place<"CPU", global>>, tensor<2xi32>
  %t = tg_legacy.noop %s : !tg.void
  %a = tg.after %n, %t : (tensor<2xi32, #tg.place<"CPU", global>>, !tg.void) -> tensor<2xi32, #tg.place<"CPU", global>>
  %r = tg.load %a : tensor<2xi32, #tg.place<"CPU", global>> -> tensor<2xi32, #tg.place<"CPU">>
  func.return %r : tensor<2xi32, #tg.place<"CPU">>
}

// RUN: tg-opt %s -p 'tg-plan-fusion{target=cpu}' | filecheck %s
// RUN: tg-opt %s -p 'tg-plan-fusion{target=cpu},tg-build-kernels' | filecheck %s --check-prefix=KERNELS

// A value that is `tg.realised` stays so, though it is cheap.

// CHECK-LABEL: func.func @asked
// CHECK:         tg.add {{.*}} {tg.realised}
// KERNELS:     tg.kernel @asked_0
// KERNELS:     tg.kernel @asked_1
// KERNELS-NOT: tg.realised
func.func @asked(%x: tensor<4xf32, #tg.place<"CPU", global>>, %o: tensor<4xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.add %x, %x {tg.realised} : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU">>
  %m = tg.mul %a, %a : tensor<4xf32, #tg.place<"CPU">>
  %s = tg.store %o, %m : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

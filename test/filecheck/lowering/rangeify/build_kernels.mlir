// RUN: tg-opt %s -p tg-build-kernels,tg-verify{level=kernels} | filecheck %s

// Kernels are built as the plan says: the product has one of its own, whose buffer and loops have
// the columns outside, and the other one keeps rows of a sum.

// CHECK-LABEL: tg.kernel @planned_0
// CHECK:         tg.param 0 : tensor<8x4xf32
// CHECK:         [[EIGHT:%\S+]] = tg.const 8
// CHECK:         tg.range 0 loop to [[EIGHT]]
// CHECK-LABEL: tg.kernel @planned_1
// CHECK:         tg.buffer 0 : tensor<8xf32, #tg.place<local>>
// CHECK-LABEL: func.func @planned
// CHECK-NOT:     tg.realised
// CHECK:         tg.buffer 0 : tensor<8x4xf32

func.func @planned(%x: tensor<4x8xf32, #tg.place<"CPU", global>>, %o: tensor<4x8xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.load %x : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU">>
  %m = tg.mul %a, %a {tg.realised, tg.axis_order = array<i64: 1, 0>, tg.loop_order = array<i64: 1, 0>} : tensor<4x8xf32, #tg.place<"CPU">>
  %l = tg.add %m, %m {tg.local_axes = array<i64: 1>} : tensor<4x8xf32, #tg.place<"CPU">>
  %s = tg.store %o, %l : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

// Without a plan there is a kernel for each STORE.

// CHECK:       tg.kernel @unplanned_0
// CHECK-NOT:   tg.kernel
// CHECK:       func.func @unplanned
func.func @unplanned(%x: tensor<4x8xf32, #tg.place<"CPU", global>>, %o: tensor<4x8xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.load %x : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU">>
  %m = tg.mul %a, %a : tensor<4x8xf32, #tg.place<"CPU">>
  %s = tg.store %o, %m : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

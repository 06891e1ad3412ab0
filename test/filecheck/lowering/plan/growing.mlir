// RUN: tg-opt %s -p tg-plan | filecheck %s
// RUN: tg-opt %s -p tg-plan --remarks-filter=tg-plan -o %t 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: Remark="arena of 8192 bytes for 2 buffers, which take 8192 bytes apart, where dynamic sizes are 64", Arena=tg.workspace, Bytes=8192, Buffers=2, Apart=8192

// The arena of buffers of dynamic sizes is as large as a call needs it. Both are live at the same time, and
// begin at multiples of 64 bytes.

// CHECK:       func.func @grow(%n: tensor<index> {tg.min = 1 : index}, %size: tensor<index> {tg.computed = "128 %0 mul", tg.min = 0 : index}, %workspace: tensor<?xui8, #tg.place<"CPU", global>> {tg.workspace, tg.dims = array<i64: 1>})
// CHECK-NEXT:    [[ZERO:%.*]] = tg.const 0
// CHECK:         tg.shrink %workspace at [[[ZERO]]] to
// CHECK:         %a = tg.reshape {{.*}} [%n, 3]
// CHECK-NEXT:    [[SIXTY_FOUR:%.*]] = tg.const 64
// CHECK-NEXT:    [[OFFSET:%.*]] = tg.mul %n, [[SIXTY_FOUR]]
// CHECK:         tg.shrink %workspace at [[[OFFSET]]] to
// CHECK:         %b = tg.reshape {{.*}} [%n]
tg.program @use {
  tg.linear {
    %n = tg.param 2 : tensor<index>
    %a = tg.param 0 (%n) : tensor<?x3xf32, #tg.place<global>>
    %b = tg.param 1 (%n) : tensor<?xf64, #tg.place<global>>
    %c0 = tg.const 0 : tensor<index>
    %v = tg.const 0.0 : tensor<f64>
    %l = tg.index %b[%c0] : (tensor<?xf64, #tg.place<global>>, tensor<index>) -> tensor<f64, #tg.place<global>>
    %s = tg.store %l, %v : tensor<f64, #tg.place<global>>, tensor<f64>
    tg.sink %s : !tg.void
  }
}
func.func @grow(%n: tensor<index> {tg.min = 1 : index}) {
  %a = tg.buffer 0 (%n) : tensor<?x3xf32, #tg.place<"CPU", global>>
  %b = tg.buffer 1 (%n) : tensor<?xf64, #tg.place<"CPU", global>>
  tg.linear {
    tg.call @use(%a, %b, %n) : (tensor<?x3xf32, #tg.place<"CPU", global>>, tensor<?xf64, #tg.place<"CPU", global>>, tensor<index>) -> !tg.void
  }
  func.return
}

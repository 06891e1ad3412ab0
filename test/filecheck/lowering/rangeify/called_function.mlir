// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-rangeify)' | filecheck %s

// A function that is called brings its buffers along, of dynamic sizes too.

// CHECK-LABEL: func.func @f
// CHECK:         %[[B:.*]] = tg.buffer 0(%n)
// CHECK:         %[[COPY:.*]] = tg.call @g_0(%n, %[[B]], %x)
// CHECK:         %[[C:.*]] = tg.after %[[B]], %[[COPY]]
// CHECK:         tg.call @g_1(%n, %o, %[[C]])
// CHECK-NOT:   func.func
func.func @f(%n: tensor<index> {tg.min = 1 : index, tg.max = 64 : index}, %x: tensor<?xf32, #tg.place<"CPU", global>> {tg.dims = array<i64: 0>}, %o: tensor<?xf32, #tg.place<"CPU", global>> {tg.output, tg.dims = array<i64: 0>}) {
  %c = tg.call @g(%n, %x, %o) : (tensor<index>, tensor<?xf32, #tg.place<"CPU", global>>, tensor<?xf32, #tg.place<"CPU", global>>) -> !tg.void
  tg.sink %c : !tg.void
  func.return
}
func.func private @g(%n: tensor<index> {tg.min = 1 : index, tg.max = 64 : index}, %x: tensor<?xf32, #tg.place<"CPU", global>> {tg.dims = array<i64: 0>}, %o: tensor<?xf32, #tg.place<"CPU", global>> {tg.output, tg.dims = array<i64: 0>}) {
  %l = tg.load %x : tensor<?xf32, #tg.place<"CPU", global>> -> tensor<?xf32, #tg.place<"CPU">>
  %y = tg.neg %l : tensor<?xf32, #tg.place<"CPU">>
  %s = tg.store %o, %y : tensor<?xf32, #tg.place<"CPU", global>>, tensor<?xf32, #tg.place<"CPU">>
  tg.sink %s : !tg.void
  func.return
}

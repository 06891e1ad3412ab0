// RUN: tg-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tg-rangeify)'

// The kernels of a function are called by its callers: recursion has no end.

// expected-error @+1 {{@even calls itself}}
func.func @even(%x: tensor<4xf32, #tg.place<"CPU", global>>, %o: tensor<4xf32, #tg.place<"CPU", global>> {tg.output}) {
  %c = tg.call @odd(%x, %o) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  tg.sink %c : !tg.void
  func.return
}
func.func private @odd(%x: tensor<4xf32, #tg.place<"CPU", global>>, %o: tensor<4xf32, #tg.place<"CPU", global>> {tg.output}) {
  %c = tg.call @even(%x, %o) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  tg.sink %c : !tg.void
  func.return
}

// RUN: tg-opt %s | tg-opt | filecheck %s

// Sharded arguments and results of calls, and of ops whose result type is written.

func.func private @double(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> {
  %0 = tg.add %x, %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  func.return %0 : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
}

// CHECK-LABEL: func.func @calls
func.func @calls(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %a = func.call @double(%x) : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %a = func.call @double(%x) : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %b = tg.call @double(%x) : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> !tg.tuple<tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>>
  %b = tg.call @double(%x) : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> !tg.tuple<tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>>
  // CHECK: %c = tg.gettuple %b 0 : !tg.tuple<tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %c = tg.gettuple %b 0 : !tg.tuple<tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// CHECK-LABEL: func.func @written
func.func @written(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<6xf32, #tg.place<["A", "B"], axis = 0>>, %w: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %r: tensor<6xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %a = tg.custom "sqrtf({0})"(%x) : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %a = tg.custom "sqrtf({0})"(%x) : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %b = tg.custom "fmaxf({}, {})"(%w, %y) : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %b = tg.custom "fmaxf({}, {})"(%w, %y) : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %c = tg.custom "fmaxf({}, {})"(%x, %r) : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %c = tg.custom "fmaxf({}, {})"(%x, %r) : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %d = tg.custom "note({0})"(%x) : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> !tg.void
  %d = tg.custom "note({0})"(%x) : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> !tg.void
  // CHECK: %e = tg.ins "dsp.rcp"(%x) : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %e = tg.ins "dsp.rcp"(%x) : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

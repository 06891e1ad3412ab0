// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<4x2x6xi32, #tg.place<["A", "B"], axis = 1>>, %m: tensor<2xf32, #tg.place<["A", "B"], global, axis = 0>>) {
  // CHECK: %a = tg.replicated %x axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
  // GENERIC: %a = "tg.replicated"(%x) <{axis = #tg.number<0>}> : (tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"]>>
  %a = tg.replicated %x axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
  // CHECK: %b = tg.replicated %y axis 1 : tensor<4x2x6xi32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xi32, #tg.place<["A", "B"]>>
  // GENERIC: %b = "tg.replicated"(%y) <{axis = #tg.number<1>}> : (tensor<4x2x6xi32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xi32, #tg.place<["A", "B"]>>
  %b = tg.replicated %y axis 1 : tensor<4x2x6xi32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xi32, #tg.place<["A", "B"]>>
  // CHECK: %c = tg.replicated %m axis 0 : tensor<2xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<f32, #tg.place<["A", "B"]>>
  // GENERIC: %c = "tg.replicated"(%m) <{axis = #tg.number<0>}> : (tensor<2xf32, #tg.place<["A", "B"], global, axis = 0>>) -> tensor<f32, #tg.place<["A", "B"]>>
  %c = tg.replicated %m axis 0 : tensor<2xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<f32, #tg.place<["A", "B"]>>
  func.return
}

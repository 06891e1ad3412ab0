// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// A tuple of devices holds the whole buffer in equal parts, split on axis 0.

func.func @f(%n: tensor<index>) {
  // CHECK: %a = tg.buffer 0 : tensor<4x8xf32, #tg.place<"CPU", global>>
  // GENERIC: %a = "tg.buffer"() <{slot = #tg.number<0>}> : () -> tensor<4x8xf32, #tg.place<"CPU", global>>
  %a = tg.buffer 0 : tensor<4x8xf32, #tg.place<"CPU", global>>
  // CHECK: %b = tg.buffer 1 : tensor<4xi8, #tg.place<local>>
  // GENERIC: %b = "tg.buffer"() <{slot = #tg.number<1>}> : () -> tensor<4xi8, #tg.place<local>>
  %b = tg.buffer 1 : tensor<4xi8, #tg.place<local>>
  // CHECK: %c = tg.buffer 2 : tensor<f32, #tg.place<reg>>
  // GENERIC: %c = "tg.buffer"() <{slot = #tg.number<2>}> : () -> tensor<f32, #tg.place<reg>>
  %c = tg.buffer 2 : tensor<f32, #tg.place<reg>>
  // CHECK: %d = tg.buffer 3 : tensor<8x4xf32, #tg.place<["A", "B"], global, axis = 0>>
  // GENERIC: %d = "tg.buffer"() <{slot = #tg.number<3>}> : () -> tensor<8x4xf32, #tg.place<["A", "B"], global, axis = 0>>
  %d = tg.buffer 3 : tensor<8x4xf32, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: %e = tg.buffer 4(%n) : tensor<?x4xf32, #tg.place<"CPU", global>>
  // GENERIC: %e = "tg.buffer"(%n) <{slot = #tg.number<4>}> : (tensor<index>) -> tensor<?x4xf32, #tg.place<"CPU", global>>
  %e = tg.buffer 4(%n) : tensor<?x4xf32, #tg.place<"CPU", global>>
  // CHECK: %same = tg.buffer 0 : tensor<4x8xf32, #tg.place<"CPU", global>>
  // GENERIC: %same = "tg.buffer"() <{slot = #tg.number<0>}> : () -> tensor<4x8xf32, #tg.place<"CPU", global>>
  %same = tg.buffer 0 : tensor<4x8xf32, #tg.place<"CPU", global>>
  func.return
}

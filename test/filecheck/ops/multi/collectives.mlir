// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// The collectives of the specification.

func.func @broadcast(%t: tensor<6xf32, #tg.place<"A">>) {
  // CHECK: %r = tg.reshape %t [1, 6] : tensor<6xf32, #tg.place<"A">> -> tensor<1x6xf32, #tg.place<"A">>
  // GENERIC: %r = "tg.reshape"(%t) <{shape = array<i64: 1, 6>}> : (tensor<6xf32, #tg.place<"A">>) -> tensor<1x6xf32, #tg.place<"A">>
  %r = tg.reshape %t [1, 6] : tensor<6xf32, #tg.place<"A">> -> tensor<1x6xf32, #tg.place<"A">>
  // CHECK: %e = tg.expand %r [2, 6] : tensor<1x6xf32, #tg.place<"A">> -> tensor<2x6xf32, #tg.place<"A">>
  // GENERIC: %e = "tg.expand"(%r) <{shape = array<i64: 2, 6>}> : (tensor<1x6xf32, #tg.place<"A">>) -> tensor<2x6xf32, #tg.place<"A">>
  %e = tg.expand %r [2, 6] : tensor<1x6xf32, #tg.place<"A">> -> tensor<2x6xf32, #tg.place<"A">>
  // CHECK: %c = tg.copy %e to ["A", "B"] : tensor<2x6xf32, #tg.place<"A">> -> tensor<2x6xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %c = "tg.copy"(%e) <{device = ["A", "B"]}> : (tensor<2x6xf32, #tg.place<"A">>) -> tensor<2x6xf32, #tg.place<["A", "B"], axis = 0>>
  %c = tg.copy %e to ["A", "B"] : tensor<2x6xf32, #tg.place<"A">> -> tensor<2x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %b = tg.replicated %c axis 0 : tensor<2x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6xf32, #tg.place<["A", "B"]>>
  // GENERIC: %b = "tg.replicated"(%c) <{axis = #tg.number<0>}> : (tensor<2x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6xf32, #tg.place<["A", "B"]>>
  %b = tg.replicated %c axis 0 : tensor<2x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6xf32, #tg.place<["A", "B"]>>
  func.return
}

func.func @scatter_gather(%t: tensor<6xf32, #tg.place<"A">>) {
  // CHECK: %s = tg.copy %t to ["A", "B"] : tensor<6xf32, #tg.place<"A">> -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %s = "tg.copy"(%t) <{device = ["A", "B"]}> : (tensor<6xf32, #tg.place<"A">>) -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  %s = tg.copy %t to ["A", "B"] : tensor<6xf32, #tg.place<"A">> -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %g = tg.copy %s to "A" : tensor<6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6xf32, #tg.place<"A">>
  // GENERIC: %g = "tg.copy"(%s) <{device = "A"}> : (tensor<6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<6xf32, #tg.place<"A">>
  %g = tg.copy %s to "A" : tensor<6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6xf32, #tg.place<"A">>
  func.return
}

func.func @allreduce(%t: tensor<8xf32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %r = tg.reshape %t [2, 2, 2] : tensor<8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %r = "tg.reshape"(%t) <{shape = array<i64: 2, 2, 2>}> : (tensor<8xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  %r = tg.reshape %t [2, 2, 2] : tensor<8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %p = tg.permute %r [1, 0, 2] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %p = "tg.permute"(%r) <{order = array<i64: 1, 0, 2>}> : (tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>>
  %p = tg.permute %r [1, 0, 2] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %c = tg.copy %p to ["A", "B"] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %c = "tg.copy"(%p) <{device = ["A", "B"]}> : (tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  %c = tg.copy %p to ["A", "B"] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %s = tg.reduce add %c [1] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %s = "tg.reduce"(%c) <{op = #tg<reduce_kind add>, axes = array<i64: 1>}> : (tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>>
  %s = tg.reduce add %c [1] : tensor<2x2x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %d = tg.reshape %s [4] : tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %d = "tg.reshape"(%s) <{shape = array<i64: 4>}> : (tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  %d = tg.reshape %s [4] : tensor<2x1x2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %f = tg.reshape %d [1, 4] : tensor<4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %f = "tg.reshape"(%d) <{shape = array<i64: 1, 4>}> : (tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>>
  %f = tg.reshape %d [1, 4] : tensor<4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %e = tg.expand %f [2, 4] : tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %e = "tg.expand"(%f) <{shape = array<i64: 2, 4>}> : (tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>
  %e = tg.expand %f [2, 4] : tensor<1x4xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %g = tg.copy %e to ["A", "B"] : tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %g = "tg.copy"(%e) <{device = ["A", "B"]}> : (tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>
  %g = tg.copy %e to ["A", "B"] : tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %h = tg.replicated %g axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
  // GENERIC: %h = "tg.replicated"(%g) <{axis = #tg.number<0>}> : (tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"]>>
  %h = tg.replicated %g axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
  func.return
}

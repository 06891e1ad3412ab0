// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// A copy to a tuple of devices reshards with axis 0.

func.func @f(%x: tensor<4xf32>, %c: tensor<4xf32, #tg.place<"CPU">>, %m: tensor<4xf32, #tg.place<"CPU", global>>, %s: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %a = tg.copy %x to "CPU" : tensor<4xf32> -> tensor<4xf32, #tg.place<"CPU">>
  // GENERIC: %a = "tg.copy"(%x) <{device = "CPU"}> : (tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU">>
  %a = tg.copy %x to "CPU" : tensor<4xf32> -> tensor<4xf32, #tg.place<"CPU">>
  // CHECK: %b = tg.copy %c to "GPU" : tensor<4xf32, #tg.place<"CPU">> -> tensor<4xf32, #tg.place<"GPU">>
  // GENERIC: %b = "tg.copy"(%c) <{device = "GPU"}> : (tensor<4xf32, #tg.place<"CPU">>) -> tensor<4xf32, #tg.place<"GPU">>
  %b = tg.copy %c to "GPU" : tensor<4xf32, #tg.place<"CPU">> -> tensor<4xf32, #tg.place<"GPU">>
  // CHECK: %d = tg.copy %c to "CPU" clone : tensor<4xf32, #tg.place<"CPU">> -> tensor<4xf32, #tg.place<"CPU">>
  // GENERIC: %d = "tg.copy"(%c) <{device = "CPU", clone}> : (tensor<4xf32, #tg.place<"CPU">>) -> tensor<4xf32, #tg.place<"CPU">>
  %d = tg.copy %c to "CPU" clone : tensor<4xf32, #tg.place<"CPU">> -> tensor<4xf32, #tg.place<"CPU">>
  // CHECK: %here = tg.copy %c to "CPU" : tensor<4xf32, #tg.place<"CPU">> -> tensor<4xf32, #tg.place<"CPU">>
  // GENERIC: %here = "tg.copy"(%c) <{device = "CPU"}> : (tensor<4xf32, #tg.place<"CPU">>) -> tensor<4xf32, #tg.place<"CPU">>
  %here = tg.copy %c to "CPU" : tensor<4xf32, #tg.place<"CPU">> -> tensor<4xf32, #tg.place<"CPU">>
  // CHECK: %e = tg.copy %m to ["A", "B"] : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %e = "tg.copy"(%m) <{device = ["A", "B"]}> : (tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  %e = tg.copy %m to ["A", "B"] : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %reshard = tg.copy %s to ["A", "B"] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %reshard = "tg.copy"(%s) <{device = ["A", "B"]}> : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %reshard = tg.copy %s to ["A", "B"] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %split = tg.copy %r to ["A", "B"] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %split = "tg.copy"(%r) <{device = ["A", "B"]}> : (tensor<4x6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %split = tg.copy %r to ["A", "B"] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %gather = tg.copy %s to "A" : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xf32, #tg.place<"A">>
  // GENERIC: %gather = "tg.copy"(%s) <{device = "A"}> : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<"A">>
  %gather = tg.copy %s to "A" : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xf32, #tg.place<"A">>
  func.return
}

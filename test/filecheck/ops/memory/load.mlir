// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<4xf32>, %g: tensor<i1>, %gs: tensor<4xi1>, %x: tensor<8xf32>) {
  // CHECK: %a = tg.load %m : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  // GENERIC: %a = "tg.load"(%m) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU">>
  %a = tg.load %m : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  // CHECK: %b = tg.load %m alt %v gate %g : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>, tensor<i1> -> tensor<4xf32, #tg.place<"CPU">>
  // GENERIC: %b = "tg.load"(%m, %v, %g) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>, tensor<i1>) -> tensor<4xf32, #tg.place<"CPU">>
  %b = tg.load %m alt %v gate %g : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>, tensor<i1> -> tensor<4xf32, #tg.place<"CPU">>
  // CHECK: %c = tg.load %m alt %v gate %gs : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>, tensor<4xi1> -> tensor<4xf32, #tg.place<"CPU">>
  // GENERIC: %c = "tg.load"(%m, %v, %gs) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>, tensor<4xi1>) -> tensor<4xf32, #tg.place<"CPU">>
  %c = tg.load %m alt %v gate %gs : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>, tensor<4xi1> -> tensor<4xf32, #tg.place<"CPU">>
  // CHECK: %d = tg.load %m device "GPU" : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"GPU">>
  // GENERIC: %d = "tg.load"(%m) <{device = "GPU", operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"GPU">>
  %d = tg.load %m device "GPU" : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"GPU">>
  // CHECK: %e = tg.load %m addrspace "local" : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", local>>
  // GENERIC: %e = "tg.load"(%m) <{addrspace = "local", operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU", local>>
  %e = tg.load %m addrspace "local" : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", local>>
  // CHECK: %f = tg.load %x device ["A", "B"] addrspace "global" : tensor<8xf32> -> tensor<8xf32, #tg.place<["A", "B"], global, axis = 0>>
  // GENERIC: %f = "tg.load"(%x) <{device = ["A", "B"], addrspace = "global", operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<8xf32>) -> tensor<8xf32, #tg.place<["A", "B"], global, axis = 0>>
  %f = tg.load %x device ["A", "B"] addrspace "global" : tensor<8xf32> -> tensor<8xf32, #tg.place<["A", "B"], global, axis = 0>>
  // CHECK: %h = tg.load %v : tensor<4xf32> -> tensor<4xf32>
  // GENERIC: %h = "tg.load"(%v) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4xf32>) -> tensor<4xf32>
  %h = tg.load %v : tensor<4xf32> -> tensor<4xf32>
  func.return
}

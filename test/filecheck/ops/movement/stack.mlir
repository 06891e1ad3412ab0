// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// STACK reads memory: its result is a value.

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>, %m: tensor<4xf32, #tg.place<"CPU", global>>, %s: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %two = tg.stack %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // GENERIC: %two = "tg.stack"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %two = tg.stack %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: %one = tg.stack %a : tensor<4xf32> -> tensor<1x4xf32>
  // GENERIC: %one = "tg.stack"(%a) : (tensor<4xf32>) -> tensor<1x4xf32>
  %one = tg.stack %a : tensor<4xf32> -> tensor<1x4xf32>
  // CHECK: %read = tg.stack %m, %m : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<2x4xf32, #tg.place<"CPU">>
  // GENERIC: %read = "tg.stack"(%m, %m) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<2x4xf32, #tg.place<"CPU">>
  %read = tg.stack %m, %m : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<2x4xf32, #tg.place<"CPU">>
  // CHECK: %mixed = tg.stack %a, %m : (tensor<4xf32>, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<2x4xf32, #tg.place<"CPU">>
  // GENERIC: %mixed = "tg.stack"(%a, %m) : (tensor<4xf32>, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<2x4xf32, #tg.place<"CPU">>
  %mixed = tg.stack %a, %m : (tensor<4xf32>, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<2x4xf32, #tg.place<"CPU">>
  // CHECK: %sharded = tg.stack %a, %s : (tensor<4xf32>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %sharded = "tg.stack"(%a, %s) : (tensor<4xf32>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>
  %sharded = tg.stack %a, %s : (tensor<4xf32>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

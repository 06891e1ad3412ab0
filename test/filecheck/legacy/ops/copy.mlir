// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4xf32, #tg.place<"A">>, %m: tensor<4xf32, #tg.place<"A", global>>, %v: tensor<4xf32>, %s: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) {
  %a = tg_legacy.device "A"
  %b = tg_legacy.device "B"
  // CHECK: %0 = tg_legacy.copy %x to %b : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"B">>
  // GENERIC: %0 = "tg_legacy.copy"(%x, %b) : (tensor<4xf32, #tg.place<"A">>, !tg.void) -> tensor<4xf32, #tg.place<"B">>
  %0 = tg_legacy.copy %x to %b : tensor<4xf32, #tg.place<"A">> -> tensor<4xf32, #tg.place<"B">>
  // CHECK: %1 = tg_legacy.copy %m to %a clone : tensor<4xf32, #tg.place<"A", global>> -> tensor<4xf32, #tg.place<"A">>
  // GENERIC: %1 = "tg_legacy.copy"(%m, %a) <{clone}> : (tensor<4xf32, #tg.place<"A", global>>, !tg.void) -> tensor<4xf32, #tg.place<"A">>
  %1 = tg_legacy.copy %m to %a clone : tensor<4xf32, #tg.place<"A", global>> -> tensor<4xf32, #tg.place<"A">>
  // CHECK: %2 = tg_legacy.copy %v to %a : tensor<4xf32> -> tensor<4xf32, #tg.place<"A">>
  // GENERIC: %2 = "tg_legacy.copy"(%v, %a) : (tensor<4xf32>, !tg.void) -> tensor<4xf32, #tg.place<"A">>
  %2 = tg_legacy.copy %v to %a : tensor<4xf32> -> tensor<4xf32, #tg.place<"A">>
  // CHECK: %3 = tg_legacy.copy %s to %b : tensor<4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<"B">>
  // GENERIC: %3 = "tg_legacy.copy"(%s, %b) : (tensor<4xf32, #tg.place<["A", "B"], axis = 0>>, !tg.void) -> tensor<4xf32, #tg.place<"B">>
  %3 = tg_legacy.copy %s to %b : tensor<4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<"B">>
  func.return
}

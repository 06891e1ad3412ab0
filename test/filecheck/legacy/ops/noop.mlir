// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4xf32>, %m: tensor<4xf32, #tg.place<"CPU", global>>) {
  // CHECK: %a = tg_legacy.noop %x : tensor<4xf32>
  // GENERIC: %a = "tg_legacy.noop"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = tg_legacy.noop %x : tensor<4xf32>
  // CHECK: %b = tg_legacy.noop %m : tensor<4xf32, #tg.place<"CPU", global>>
  // GENERIC: %b = "tg_legacy.noop"(%m) : (tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU", global>>
  %b = tg_legacy.noop %m : tensor<4xf32, #tg.place<"CPU", global>>
  %s = tg.store %m, %x : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  // CHECK: %c = tg_legacy.noop %s : !tg.void
  // GENERIC: %c = "tg_legacy.noop"(%s) : (!tg.void) -> !tg.void
  %c = tg_legacy.noop %s : !tg.void
  func.return
}

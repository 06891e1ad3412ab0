// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4xf32>) {
  %0 = tg_legacy.view [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>] : !tg.void
  // CHECK: %a = tg_legacy.valid %0 : !tg.void -> tensor<6xi1>
  // GENERIC: %a = "tg_legacy.valid"(%0) : (!tg.void) -> tensor<6xi1>
  %a = tg_legacy.valid %0 : !tg.void -> tensor<6xi1>
  %1 = tg_legacy.view %x [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>, #tg_legacy.view<[2, 3]>] : tensor<4xf32> -> tensor<2x3xf32>
  // CHECK: %b = tg_legacy.valid %1 : tensor<2x3xf32> -> tensor<2x3xi1>
  // GENERIC: %b = "tg_legacy.valid"(%1) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %b = tg_legacy.valid %1 : tensor<2x3xf32> -> tensor<2x3xi1>
  %2 = tg_legacy.view %x [#tg_legacy.view<[2, 2]>] : tensor<4xf32> -> tensor<2x2xf32>
  // CHECK: %c = tg_legacy.valid %2 : tensor<2x2xf32> -> tensor<2x2xi1>
  // GENERIC: %c = "tg_legacy.valid"(%2) : (tensor<2x2xf32>) -> tensor<2x2xi1>
  %c = tg_legacy.valid %2 : tensor<2x2xf32> -> tensor<2x2xi1>
  func.return
}

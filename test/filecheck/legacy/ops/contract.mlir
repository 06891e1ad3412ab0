// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4xf32>, %c: tensor<f32>) {
  %0 = tg_legacy.unroll %x [[0, 4]] : tensor<4xf32> -> tensor<f32>
  %1 = tg.add %0, %c : tensor<f32>
  // CHECK: %a = tg_legacy.contract %1 [[0, 4]] : tensor<f32> -> tensor<4xf32>
  // GENERIC: %a = "tg_legacy.contract"(%1) <{axes = {{\[\[}}#tg.number<0>, #tg.number<4>]]}> : (tensor<f32>) -> tensor<4xf32>
  %a = tg_legacy.contract %1 [[0, 4]] : tensor<f32> -> tensor<4xf32>
  // CHECK: %b = tg_legacy.contract %c [[2, 2], [5, 4]] : tensor<f32> -> tensor<8xf32>
  // GENERIC: %b = "tg_legacy.contract"(%c) <{axes = {{\[\[}}#tg.number<2>, #tg.number<2>], [#tg.number<5>, #tg.number<4>]]}> : (tensor<f32>) -> tensor<8xf32>
  %b = tg_legacy.contract %c [[2, 2], [5, 4]] : tensor<f32> -> tensor<8xf32>
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4xf32>, %y: tensor<8xi32>) {
  // CHECK: %0 = tg_legacy.unroll %x [[0, 4]] : tensor<4xf32> -> tensor<f32>
  // GENERIC: %0 = "tg_legacy.unroll"(%x) <{axes = {{\[\[}}#tg.number<0>, #tg.number<4>]]}> : (tensor<4xf32>) -> tensor<f32>
  %0 = tg_legacy.unroll %x [[0, 4]] : tensor<4xf32> -> tensor<f32>
  // CHECK: %1 = tg_legacy.unroll %y [[3, 4], [1, 2]] : tensor<8xi32> -> tensor<i32>
  // GENERIC: %1 = "tg_legacy.unroll"(%y) <{axes = {{\[\[}}#tg.number<3>, #tg.number<4>], [#tg.number<1>, #tg.number<2>]]}> : (tensor<8xi32>) -> tensor<i32>
  %1 = tg_legacy.unroll %y [[3, 4], [1, 2]] : tensor<8xi32> -> tensor<i32>
  %2 = tg_legacy.contract %0 [] : tensor<f32> -> tensor<1xf32>
  // CHECK: %3 = tg_legacy.unroll %2 [] : tensor<1xf32> -> tensor<f32>
  // GENERIC: %3 = "tg_legacy.unroll"(%2) <{axes = []}> : (tensor<1xf32>) -> tensor<f32>
  %3 = tg_legacy.unroll %2 [] : tensor<1xf32> -> tensor<f32>
  func.return
}

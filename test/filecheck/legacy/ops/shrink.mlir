// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4x8xf32>, %m: tensor<4xi32, #tg.place<"CPU", global>>, %s: tensor<f32>) {
  // CHECK: %0 = tg_legacy.shrink %x {{\[\[}}1, 3], [0, 8]] : tensor<4x8xf32> -> tensor<2x8xf32>
  // GENERIC: %0 = "tg_legacy.shrink"(%x) <{pairs = {{.*}}}> : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %0 = tg_legacy.shrink %x [[1, 3], [0, 8]] : tensor<4x8xf32> -> tensor<2x8xf32>
  // CHECK: %1 = tg_legacy.shrink %m {{\[\[}}0, 1]] : tensor<4xi32, #tg.place<"CPU", global>> -> tensor<1xi32, #tg.place<"CPU">>
  %1 = tg_legacy.shrink %m [[0, 1]] : tensor<4xi32, #tg.place<"CPU", global>> -> tensor<1xi32, #tg.place<"CPU">>
  // CHECK: %2 = tg_legacy.shrink %s [] : tensor<f32> -> tensor<f32>
  %2 = tg_legacy.shrink %s [] : tensor<f32> -> tensor<f32>
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>, %v: tensor<i1>) {
  %p = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  // CHECK: %0 = tg_legacy.cast %p : tensor<f32, #tg.place<global>> -> tensor<4xf32, #tg.place<global>>
  // GENERIC: %0 = "tg_legacy.cast"(%p) : (tensor<f32, #tg.place<global>>) -> tensor<4xf32, #tg.place<global>>
  %0 = tg_legacy.cast %p : tensor<f32, #tg.place<global>> -> tensor<4xf32, #tg.place<global>>
  %q = tg_legacy.index %m, %i valid %v : (tensor<24xf32, #tg.place<global>>, tensor<i32>, tensor<i1>) -> tensor<f32, #tg.place<global>>
  // CHECK: %1 = tg_legacy.cast %q : tensor<f32, #tg.place<global>> -> tensor<1xf32, #tg.place<global>>
  // GENERIC: %1 = "tg_legacy.cast"(%q) : (tensor<f32, #tg.place<global>>) -> tensor<1xf32, #tg.place<global>>
  %1 = tg_legacy.cast %q : tensor<f32, #tg.place<global>> -> tensor<1xf32, #tg.place<global>>
  func.return
}

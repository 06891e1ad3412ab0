// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %n: tensor<?xf32, #tg.place<"CPU", local>>, %i: tensor<i32>, %v: tensor<i1>, %k: tensor<4xindex>, %w: tensor<4xi1>) {
  // CHECK: %0 = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  // GENERIC: %0 = "tg_legacy.index"(%m, %i) : (tensor<24xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  %0 = tg_legacy.index %m, %i : (tensor<24xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  // CHECK: %1 = tg_legacy.index %m, %i valid %v : (tensor<24xf32, #tg.place<global>>, tensor<i32>, tensor<i1>) -> tensor<f32, #tg.place<global>>
  // GENERIC: %1 = "tg_legacy.index"(%m, %i, %v) : (tensor<24xf32, #tg.place<global>>, tensor<i32>, tensor<i1>) -> tensor<f32, #tg.place<global>>
  %1 = tg_legacy.index %m, %i valid %v : (tensor<24xf32, #tg.place<global>>, tensor<i32>, tensor<i1>) -> tensor<f32, #tg.place<global>>
  // CHECK: %2 = tg_legacy.index %n, %k : (tensor<?xf32, #tg.place<"CPU", local>>, tensor<4xindex>) -> tensor<4xf32, #tg.place<"CPU", local>>
  // GENERIC: %2 = "tg_legacy.index"(%n, %k) : (tensor<?xf32, #tg.place<"CPU", local>>, tensor<4xindex>) -> tensor<4xf32, #tg.place<"CPU", local>>
  %2 = tg_legacy.index %n, %k : (tensor<?xf32, #tg.place<"CPU", local>>, tensor<4xindex>) -> tensor<4xf32, #tg.place<"CPU", local>>
  // CHECK: %3 = tg_legacy.index %m, %k valid %w : (tensor<24xf32, #tg.place<global>>, tensor<4xindex>, tensor<4xi1>) -> tensor<4xf32, #tg.place<global>>
  // GENERIC: %3 = "tg_legacy.index"(%m, %k, %w) : (tensor<24xf32, #tg.place<global>>, tensor<4xindex>, tensor<4xi1>) -> tensor<4xf32, #tg.place<global>>
  %3 = tg_legacy.index %m, %k valid %w : (tensor<24xf32, #tg.place<global>>, tensor<4xindex>, tensor<4xi1>) -> tensor<4xf32, #tg.place<global>>
  // CHECK: %4 = tg_legacy.index %m, %k valid %v : (tensor<24xf32, #tg.place<global>>, tensor<4xindex>, tensor<i1>) -> tensor<4xf32, #tg.place<global>>
  // GENERIC: %4 = "tg_legacy.index"(%m, %k, %v) : (tensor<24xf32, #tg.place<global>>, tensor<4xindex>, tensor<i1>) -> tensor<4xf32, #tg.place<global>>
  %4 = tg_legacy.index %m, %k valid %v : (tensor<24xf32, #tg.place<global>>, tensor<4xindex>, tensor<i1>) -> tensor<4xf32, #tg.place<global>>
  func.return
}

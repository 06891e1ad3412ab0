// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4x8xf32>, %m: tensor<4x8xi32, #tg.place<"CPU", global>>, %b: tensor<4xi1>) {
  // CHECK: %0 = tg_legacy.reduce_axis add %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  // GENERIC: %0 = "tg_legacy.reduce_axis"(%x) <{op = #tg<reduce_kind add>, axes = array<i64: 1>}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %0 = tg_legacy.reduce_axis add %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  // CHECK: %1 = tg_legacy.reduce_axis max %m [0, 1] : tensor<4x8xi32, #tg.place<"CPU", global>> -> tensor<1x1xi32, #tg.place<"CPU">>
  // GENERIC: %1 = "tg_legacy.reduce_axis"(%m) <{op = #tg<reduce_kind max>, axes = array<i64: 0, 1>}> : (tensor<4x8xi32, #tg.place<"CPU", global>>) -> tensor<1x1xi32, #tg.place<"CPU">>
  %1 = tg_legacy.reduce_axis max %m [0, 1] : tensor<4x8xi32, #tg.place<"CPU", global>> -> tensor<1x1xi32, #tg.place<"CPU">>
  // CHECK: %2 = tg_legacy.reduce_axis mul %b [0] : tensor<4xi1> -> tensor<1xi1>
  // GENERIC: %2 = "tg_legacy.reduce_axis"(%b) <{op = #tg<reduce_kind mul>, axes = array<i64: 0>}> : (tensor<4xi1>) -> tensor<1xi1>
  %2 = tg_legacy.reduce_axis mul %b [0] : tensor<4xi1> -> tensor<1xi1>
  // CHECK: %3 = tg_legacy.reduce_axis add %x [] : tensor<4x8xf32> -> tensor<4x8xf32>
  // GENERIC: %3 = "tg_legacy.reduce_axis"(%x) <{op = #tg<reduce_kind add>, axes = array<i64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = tg_legacy.reduce_axis add %x [] : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4x8xf32>, %m: tensor<4x8xf32, #tg.place<"CPU", global>>, %n: tensor<index>, %s: tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %a = tg.shrink %x at [1, 2] to [3, 4] : tensor<4x8xf32> -> tensor<3x4xf32>
  // GENERIC: %a = "tg.shrink"(%x) <{offsets = array<i64: 1, 2>, shape = array<i64: 3, 4>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32>) -> tensor<3x4xf32>
  %a = tg.shrink %x at [1, 2] to [3, 4] : tensor<4x8xf32> -> tensor<3x4xf32>
  // CHECK: %view = tg.shrink %m at [0, 7] to [4, 1] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x1xf32, #tg.place<"CPU", global>>
  // GENERIC: %view = "tg.shrink"(%m) <{offsets = array<i64: 0, 7>, shape = array<i64: 4, 1>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32, #tg.place<"CPU", global>>) -> tensor<4x1xf32, #tg.place<"CPU", global>>
  %view = tg.shrink %m at [0, 7] to [4, 1] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x1xf32, #tg.place<"CPU", global>>
  // CHECK: %b = tg.shrink %x at [0, %n] to [%n, 4] : tensor<4x8xf32> -> tensor<?x4xf32>
  // GENERIC: %b = "tg.shrink"(%x, %n, %n) <{offsets = array<i64: 0, -9223372036854775808>, shape = array<i64: -9223372036854775808, 4>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4x8xf32>, tensor<index>, tensor<index>) -> tensor<?x4xf32>
  %b = tg.shrink %x at [0, %n] to [%n, 4] : tensor<4x8xf32> -> tensor<?x4xf32>
  // CHECK: %sharded = tg.shrink %s at [0, 1] to [4, 2] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x2xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %sharded = "tg.shrink"(%s) <{offsets = array<i64: 0, 1>, shape = array<i64: 4, 2>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x2xf32, #tg.place<["A", "B"], axis = 0>>
  %sharded = tg.shrink %s at [0, 1] to [4, 2] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x2xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

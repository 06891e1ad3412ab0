// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// A movement of memory is memory; a sharding axis follows the permutation.

func.func @f(%x: tensor<4x8xf32>, %m: tensor<4x8xf32, #tg.place<"CPU", global>>, %s: tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>, %c: tensor<f32>) {
  // CHECK: %t = tg.permute %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  // GENERIC: %t = "tg.permute"(%x) <{order = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %t = tg.permute %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: %same = tg.permute %x [0, 1] : tensor<4x8xf32>
  // GENERIC: %same = "tg.permute"(%x) <{order = array<i64: 0, 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %same = tg.permute %x [0, 1] : tensor<4x8xf32>
  // CHECK: %view = tg.permute %m [1, 0] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<8x4xf32, #tg.place<"CPU", global>>
  // GENERIC: %view = "tg.permute"(%m) <{order = array<i64: 1, 0>}> : (tensor<4x8xf32, #tg.place<"CPU", global>>) -> tensor<8x4xf32, #tg.place<"CPU", global>>
  %view = tg.permute %m [1, 0] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<8x4xf32, #tg.place<"CPU", global>>
  // CHECK: %sharded = tg.permute %s [1, 2, 0] : tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6x2xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %sharded = "tg.permute"(%s) <{order = array<i64: 1, 2, 0>}> : (tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6x2xf32, #tg.place<["A", "B"], axis = 0>>
  %sharded = tg.permute %s [1, 2, 0] : tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6x2xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %scalar = tg.permute %c [] : tensor<f32>
  // GENERIC: %scalar = "tg.permute"(%c) <{order = array<i64>}> : (tensor<f32>) -> tensor<f32>
  %scalar = tg.permute %c [] : tensor<f32>
  func.return
}

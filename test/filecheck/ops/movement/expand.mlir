// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4x1xf32>, %m: tensor<1xf32, #tg.place<"CPU", global>>, %n: tensor<index>, %s: tensor<2x1xf32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %a = tg.expand %x [4, 8] : tensor<4x1xf32> -> tensor<4x8xf32>
  // GENERIC: %a = "tg.expand"(%x) <{shape = array<i64: 4, 8>}> : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %a = tg.expand %x [4, 8] : tensor<4x1xf32> -> tensor<4x8xf32>
  // CHECK: %b = tg.expand %x [4, 0] : tensor<4x1xf32> -> tensor<4x0xf32>
  // GENERIC: %b = "tg.expand"(%x) <{shape = array<i64: 4, 0>}> : (tensor<4x1xf32>) -> tensor<4x0xf32>
  %b = tg.expand %x [4, 0] : tensor<4x1xf32> -> tensor<4x0xf32>
  // CHECK: %view = tg.expand %m [%n] : tensor<1xf32, #tg.place<"CPU", global>> -> tensor<?xf32, #tg.place<"CPU", global>>
  // GENERIC: %view = "tg.expand"(%m, %n) <{shape = array<i64: -9223372036854775808>}> : (tensor<1xf32, #tg.place<"CPU", global>>, tensor<index>) -> tensor<?xf32, #tg.place<"CPU", global>>
  %view = tg.expand %m [%n] : tensor<1xf32, #tg.place<"CPU", global>> -> tensor<?xf32, #tg.place<"CPU", global>>
  // CHECK: %sharded = tg.expand %s [2, 5] : tensor<2x1xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x5xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %sharded = "tg.expand"(%s) <{shape = array<i64: 2, 5>}> : (tensor<2x1xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x5xf32, #tg.place<["A", "B"], axis = 0>>
  %sharded = tg.expand %s [2, 5] : tensor<2x1xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x5xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

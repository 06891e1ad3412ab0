// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// The number of elements stays, symbolically where extents are dynamic: index values are compared as
// polynomials. A sharding axis goes where the shard boundary stays.

func.func @static(%x: tensor<4x8xf32>, %c: tensor<f32>, %m: tensor<4x8xf32, #tg.place<"CPU", global>>, %e: tensor<0x3xf32>) {
  // CHECK: %a = tg.reshape %x [2, 16] : tensor<4x8xf32> -> tensor<2x16xf32>
  // GENERIC: %a = "tg.reshape"(%x) <{shape = array<i64: 2, 16>}> : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %a = tg.reshape %x [2, 16] : tensor<4x8xf32> -> tensor<2x16xf32>
  // CHECK: %b = tg.reshape %c [1, 1] : tensor<f32> -> tensor<1x1xf32>
  // GENERIC: %b = "tg.reshape"(%c) <{shape = array<i64: 1, 1>}> : (tensor<f32>) -> tensor<1x1xf32>
  %b = tg.reshape %c [1, 1] : tensor<f32> -> tensor<1x1xf32>
  // CHECK: %view = tg.reshape %m [32] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<32xf32, #tg.place<"CPU", global>>
  // GENERIC: %view = "tg.reshape"(%m) <{shape = array<i64: 32>}> : (tensor<4x8xf32, #tg.place<"CPU", global>>) -> tensor<32xf32, #tg.place<"CPU", global>>
  %view = tg.reshape %m [32] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<32xf32, #tg.place<"CPU", global>>
  // CHECK: %empty = tg.reshape %e [7, 0] : tensor<0x3xf32> -> tensor<7x0xf32>
  // GENERIC: %empty = "tg.reshape"(%e) <{shape = array<i64: 7, 0>}> : (tensor<0x3xf32>) -> tensor<7x0xf32>
  %empty = tg.reshape %e [7, 0] : tensor<0x3xf32> -> tensor<7x0xf32>
  func.return
}

func.func @dynamic() {
  %n = tg.param 0 "n" min 1 max 64 : tensor<index>
  %x = tg.param 1 (%n) : tensor<?x8xf32>
  %two = tg.const 2 : tensor<index>
  %eight = tg.const 8 : tensor<index>
  %n2 = tg.mul %two, %n : tensor<index>
  %n8 = tg.mul %n, %eight : tensor<index>
  // CHECK: %a = tg.reshape %x [8, %n] : tensor<?x8xf32> -> tensor<8x?xf32>
  // GENERIC: %a = "tg.reshape"(%x, %n) <{shape = array<i64: 8, -9223372036854775808>}> : (tensor<?x8xf32>, tensor<index>) -> tensor<8x?xf32>
  %a = tg.reshape %x [8, %n] : tensor<?x8xf32> -> tensor<8x?xf32>
  // CHECK: %b = tg.reshape %x [%n2, 2, 2] : tensor<?x8xf32> -> tensor<?x2x2xf32>
  // GENERIC: %b = "tg.reshape"(%x, %n2) <{shape = array<i64: -9223372036854775808, 2, 2>}> : (tensor<?x8xf32>, tensor<index>) -> tensor<?x2x2xf32>
  %b = tg.reshape %x [%n2, 2, 2] : tensor<?x8xf32> -> tensor<?x2x2xf32>
  // CHECK: %c = tg.reshape %x [%n8] : tensor<?x8xf32> -> tensor<?xf32>
  // GENERIC: %c = "tg.reshape"(%x, %n8) <{shape = array<i64: -9223372036854775808>}> : (tensor<?x8xf32>, tensor<index>) -> tensor<?xf32>
  %c = tg.reshape %x [%n8] : tensor<?x8xf32> -> tensor<?xf32>
  %m = tg.add %n, %n : tensor<index>
  // CHECK: %d = tg.reshape %x [%m, 4] : tensor<?x8xf32> -> tensor<?x4xf32>
  // GENERIC: %d = "tg.reshape"(%x, %m) <{shape = array<i64: -9223372036854775808, 4>}> : (tensor<?x8xf32>, tensor<index>) -> tensor<?x4xf32>
  %d = tg.reshape %x [%m, 4] : tensor<?x8xf32> -> tensor<?x4xf32>
  func.return
}

func.func @sharded(%x: tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<3x8xf32, #tg.place<["A", "B"], axis = 1>>) {
  // CHECK: %a = tg.reshape %x [2, 4, 5] : tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x4x5xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %a = "tg.reshape"(%x) <{shape = array<i64: 2, 4, 5>}> : (tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4x5xf32, #tg.place<["A", "B"], axis = 0>>
  %a = tg.reshape %x [2, 4, 5] : tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2x4x5xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %b = tg.reshape %x [1, 8, 5] : tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x8x5xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %b = "tg.reshape"(%x) <{shape = array<i64: 1, 8, 5>}> : (tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<1x8x5xf32, #tg.place<["A", "B"], axis = 1>>
  %b = tg.reshape %x [1, 8, 5] : tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x8x5xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %c = tg.reshape %x [40] : tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<40xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %c = "tg.reshape"(%x) <{shape = array<i64: 40>}> : (tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<40xf32, #tg.place<["A", "B"], axis = 0>>
  %c = tg.reshape %x [40] : tensor<8x5xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<40xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %d = tg.reshape %y [3, 4, 2] : tensor<3x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<3x4x2xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %d = "tg.reshape"(%y) <{shape = array<i64: 3, 4, 2>}> : (tensor<3x8xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<3x4x2xf32, #tg.place<["A", "B"], axis = 1>>
  %d = tg.reshape %y [3, 4, 2] : tensor<3x8xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<3x4x2xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

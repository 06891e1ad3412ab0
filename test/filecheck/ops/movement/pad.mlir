// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// Cells outside are invalid, or `fill`.

func.func @f(%x: tensor<4x8xf32>, %m: tensor<4x8xf32, #tg.place<"CPU", global>>, %n: tensor<index>, %i: tensor<4xi32>, %s: tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %a = tg.pad %x at [1, 0] to [6, 8] : tensor<4x8xf32> -> tensor<6x8xf32>
  // GENERIC: %a = "tg.pad"(%x) <{offsets = array<i64: 1, 0>, shape = array<i64: 6, 8>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32>) -> tensor<6x8xf32>
  %a = tg.pad %x at [1, 0] to [6, 8] : tensor<4x8xf32> -> tensor<6x8xf32>
  // CHECK: %b = tg.pad %x at [1, 0] to [6, 8] fill 1.500000e+00 : f32 : tensor<4x8xf32> -> tensor<6x8xf32>
  // GENERIC: %b = "tg.pad"(%x) <{offsets = array<i64: 1, 0>, shape = array<i64: 6, 8>, fill = 1.500000e+00 : f32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32>) -> tensor<6x8xf32>
  %b = tg.pad %x at [1, 0] to [6, 8] fill 1.500000e+00 : f32 : tensor<4x8xf32> -> tensor<6x8xf32>
  // CHECK: %c = tg.pad %i at [0] to [5] fill -7 : i32 : tensor<4xi32> -> tensor<5xi32>
  // GENERIC: %c = "tg.pad"(%i) <{offsets = array<i64: 0>, shape = array<i64: 5>, fill = -7 : i32, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4xi32>) -> tensor<5xi32>
  %c = tg.pad %i at [0] to [5] fill -7 : i32 : tensor<4xi32> -> tensor<5xi32>
  // CHECK: %view = tg.pad %m at [0, 1] to [4, 9] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x9xf32, #tg.place<"CPU", global>>
  // GENERIC: %view = "tg.pad"(%m) <{offsets = array<i64: 0, 1>, shape = array<i64: 4, 9>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32, #tg.place<"CPU", global>>) -> tensor<4x9xf32, #tg.place<"CPU", global>>
  %view = tg.pad %m at [0, 1] to [4, 9] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x9xf32, #tg.place<"CPU", global>>
  // CHECK: %d = tg.pad %x at [%n, 0] to [9, %n] : tensor<4x8xf32> -> tensor<9x?xf32>
  // GENERIC: %d = "tg.pad"(%x, %n, %n) <{offsets = array<i64: -9223372036854775808, 0>, shape = array<i64: 9, -9223372036854775808>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4x8xf32>, tensor<index>, tensor<index>) -> tensor<9x?xf32>
  %d = tg.pad %x at [%n, 0] to [9, %n] : tensor<4x8xf32> -> tensor<9x?xf32>
  // CHECK: %sharded = tg.pad %s at [0, 1] to [4, 10] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x10xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %sharded = "tg.pad"(%s) <{offsets = array<i64: 0, 1>, shape = array<i64: 4, 10>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x10xf32, #tg.place<["A", "B"], axis = 0>>
  %sharded = tg.pad %s at [0, 1] to [4, 10] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x10xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%a: tensor<8xf16>, %b: tensor<4xf16>, %c: tensor<4xf32>, %d: tensor<16xf16>, %e: tensor<8xf32>, %x: tensor<4xf32>) {
  // CHECK: %0 = tg_legacy.wmma %a, %b, %c config <"WMMA_8_16_16_half_float", [8, 16, 16], f16, f32, "CUDA", 32, [[[0, 8]], [[0, 4]], [[0, 4]]], [3]> : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: %0 = "tg_legacy.wmma"(%a, %b, %c) <{config = #tg_legacy.wmma<"WMMA_8_16_16_half_float", [8, 16, 16], f16, f32, "CUDA", 32, [[[0, 8]], [[0, 4]], [[0, 4]]], [3]>}> : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
  %0 = tg_legacy.wmma %a, %b, %c config <"WMMA_8_16_16_half_float", [8, 16, 16], f16, f32, "CUDA", 32, [[[0, 8]], [[0, 4]], [[0, 4]]], [3]> : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
  // Two threads hold the same elements of A and B.
  // CHECK: %1 = tg_legacy.wmma %d, %d, %e config <"WMMA_16_16_16_half_float", [16, 16, 16], f16, f32, "AMD", 32, [[[0, 16]], [[0, 16]], [[0, 2], [1, 4]]], [4, 5]> : (tensor<16xf16>, tensor<16xf16>, tensor<8xf32>) -> tensor<8xf32>
  // GENERIC: %1 = "tg_legacy.wmma"(%d, %d, %e) <{config = #tg_legacy.wmma<"WMMA_16_16_16_half_float", [16, 16, 16], f16, f32, "AMD", 32, [[[0, 16]], [[0, 16]], [[0, 2], [1, 4]]], [4, 5]>}> : (tensor<16xf16>, tensor<16xf16>, tensor<8xf32>) -> tensor<8xf32>
  %1 = tg_legacy.wmma %d, %d, %e config <"WMMA_16_16_16_half_float", [16, 16, 16], f16, f32, "AMD", 32, [[[0, 16]], [[0, 16]], [[0, 2], [1, 4]]], [4, 5]> : (tensor<16xf16>, tensor<16xf16>, tensor<8xf32>) -> tensor<8xf32>
  // One thread holds whole matrices.
  // CHECK: %2 = tg_legacy.wmma %x, %x, %x config <"WMMA_2_2_2_float_float", [2, 2, 2], f32, f32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 2], [1, 2]]], []> : tensor<4xf32>
  // GENERIC: %2 = "tg_legacy.wmma"(%x, %x, %x) <{config = #tg_legacy.wmma<"WMMA_2_2_2_float_float", [2, 2, 2], f32, f32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 2], [1, 2]]], []>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = tg_legacy.wmma %x, %x, %x config <"WMMA_2_2_2_float_float", [2, 2, 2], f32, f32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 2], [1, 2]]], []> : tensor<4xf32>
  func.return
}

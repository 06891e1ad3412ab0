// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode="explicit:split 1, 2, upcast; split 3, 32, upcast; stage 1, 3, local"}' | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode="explicit:split 1, 2, upcast; split 3, 32, upcast; stage 1, 3, local"},tg-expand' | filecheck %s --check-prefix=TILES

// Lanes around the loop in which STAGE copies are cells of the copy: both columns of 32 rows. A copy of one of them would be
// stored by both lanes.

// CHECK-LABEL: tg.kernel @main_0
// CHECK:         tg.buffer 1 : tensor<{{(32x2|2x32)}}xf32, #tg.place<local>>
// TILES-LABEL: tg.kernel @main_0
func.func @main(%t: tensor<3x64x2xf32>) -> tensor<3x64x2xf32> {
  %0 = tg.reduce max %t [1] : tensor<3x64x2xf32> -> tensor<3x1x2xf32>
  %1 = tg.sub %t, %0 : (tensor<3x64x2xf32>, tensor<3x1x2xf32>) -> tensor<3x64x2xf32>
  %2 = tg.exp %1 : tensor<3x64x2xf32>
  %3 = tg.reduce add %2 [1] : tensor<3x64x2xf32> -> tensor<3x1x2xf32>
  %4 = tg.log %3 : tensor<3x1x2xf32>
  %5 = tg.sub %1, %4 : (tensor<3x64x2xf32>, tensor<3x1x2xf32>) -> tensor<3x64x2xf32>
  func.return %5 : tensor<3x64x2xf32>
}

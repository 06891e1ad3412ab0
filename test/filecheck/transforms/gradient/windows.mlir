// RUN: tg-opt %s -p 'tg-gradient{entry=windows},canonicalize,dce' --verify-each=true | filecheck %s

// The gradient of overlapping windows is a sum over windows, too: those of the padded gradient, in reverse, times the weights.

// CHECK-LABEL: func.func @windows_gradient
// CHECK-NEXT: %[[V1:.*]] = tg.reshape %x [1, 10] : tensor<10xf32> -> tensor<1x10xf32>
// CHECK-NEXT: %[[V2:.*]] = tg.expand %[[V1]] [4, 10] : tensor<1x10xf32> -> tensor<4x10xf32>
// CHECK-NEXT: %[[V3:.*]] = tg.reshape %[[V2]] [40] : tensor<4x10xf32> -> tensor<40xf32>
// CHECK-NEXT: %[[V4:.*]] = tg.shrink %[[V3]] at [0] to [33] : tensor<40xf32> -> tensor<33xf32>
// CHECK-NEXT: %[[V5:.*]] = tg.reshape %[[V4]] [3, 11] : tensor<33xf32> -> tensor<3x11xf32>
// CHECK-NEXT: %[[V6:.*]] = tg.shrink %[[V5]] at [0, 0] to [3, 8] : tensor<3x11xf32> -> tensor<3x8xf32>
// CHECK-NEXT: %[[V7:.*]] = tg.permute %[[V6]] [1, 0] : tensor<3x8xf32> -> tensor<8x3xf32>
// CHECK-NEXT: %[[V8:.*]] = tg.expand %0 [8, 3] : tensor<8x1xf32> -> tensor<8x3xf32>
// CHECK-NEXT: %[[V9:.*]] = tg.mul %[[V8]], %[[V7]] : tensor<8x3xf32>
// CHECK-NEXT: %[[V10:.*]] = tg.reduce add %[[V9]] [0] : tensor<8x3xf32> -> tensor<1x3xf32>
// CHECK-NEXT: %[[V11:.*]] = tg.reshape %[[V10]] [3] : tensor<1x3xf32> -> tensor<3xf32>
// CHECK-NEXT: %[[V12:.*]] = tg.pad %0 at [2, 0] to [12, 1] fill 0.000000e+00 : f32 : tensor<8x1xf32> -> tensor<12x1xf32>
// CHECK-NEXT: %[[V13:.*]] = tg.reshape %[[V12]] [1, 12] : tensor<12x1xf32> -> tensor<1x12xf32>
// CHECK-NEXT: %[[V14:.*]] = tg.expand %[[V13]] [4, 12] : tensor<1x12xf32> -> tensor<4x12xf32>
// CHECK-NEXT: %[[V15:.*]] = tg.reshape %[[V14]] [48] : tensor<4x12xf32> -> tensor<48xf32>
// CHECK-NEXT: %[[V16:.*]] = tg.shrink %[[V15]] at [0] to [39] : tensor<48xf32> -> tensor<39xf32>
// CHECK-NEXT: %[[V17:.*]] = tg.reshape %[[V16]] [3, 13] : tensor<39xf32> -> tensor<3x13xf32>
// CHECK-NEXT: %[[V18:.*]] = tg.shrink %[[V17]] at [0, 0] to [3, 10] : tensor<3x13xf32> -> tensor<3x10xf32>
// CHECK-NEXT: %[[V19:.*]] = tg.permute %[[V18]] [1, 0] : tensor<3x10xf32> -> tensor<10x3xf32>
// CHECK-NEXT: %[[V20:.*]] = tg.flip %[[V19]] [false, true] : tensor<10x3xf32>
// CHECK-NEXT: %[[V21:.*]] = tg.reshape %w [1, 3] : tensor<3xf32> -> tensor<1x3xf32>
// CHECK-NEXT: %[[V22:.*]] = tg.mul %[[V20]], %[[V21]] : (tensor<10x3xf32>, tensor<1x3xf32>) -> tensor<10x3xf32>
// CHECK-NEXT: %[[V23:.*]] = tg.reduce add %[[V22]] [1] : tensor<10x3xf32> -> tensor<10x1xf32>
// CHECK-NEXT: %[[V24:.*]] = tg.reshape %[[V23]] [10] : tensor<10x1xf32> -> tensor<10xf32>
// CHECK-NEXT: func.return %[[V24]], %[[V11]] : tensor<10xf32>, tensor<3xf32>

func.func @windows(%x: tensor<10xf32>, %w: tensor<3xf32>) -> tensor<8x1xf32> {
  %0 = tg.reshape %x [1, 10] : tensor<10xf32> -> tensor<1x10xf32>
  %1 = tg.expand %0 [4, 10] : tensor<1x10xf32> -> tensor<4x10xf32>
  %2 = tg.reshape %1 [40] : tensor<4x10xf32> -> tensor<40xf32>
  %3 = tg.shrink %2 at [0] to [33] : tensor<40xf32> -> tensor<33xf32>
  %4 = tg.reshape %3 [3, 11] : tensor<33xf32> -> tensor<3x11xf32>
  %5 = tg.shrink %4 at [0, 0] to [3, 8] : tensor<3x11xf32> -> tensor<3x8xf32>
  %6 = tg.permute %5 [1, 0] : tensor<3x8xf32> -> tensor<8x3xf32>
  %7 = tg.mul %6, %w : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  %8 = tg.reduce add %7 [1] : tensor<8x3xf32> -> tensor<8x1xf32>
  return %8 : tensor<8x1xf32>
}

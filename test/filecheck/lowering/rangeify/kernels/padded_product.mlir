// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-verify{level=kernels}' | filecheck %s

// What is padded is stored with its padding where a product reads each element in 64 steps or more, and masked in the steps
// of one that reads it less often.

// CHECK-LABEL: tg.kernel @often_0
// CHECK-NOT:     reduce to
// CHECK:         tg.where
// CHECK-LABEL: tg.kernel @often_1
// CHECK:         tg.range {{.*}} reduce to
// CHECK-NOT:     tg.where
// CHECK-LABEL: tg.kernel @seldom_0
// CHECK:         tg.range {{.*}} reduce to
// CHECK:         tg.where
// CHECK-NOT:   tg.kernel @seldom_1

// A product whose steps are divided into parts is one, too.

// CHECK-LABEL: tg.kernel @parts_0
// CHECK-NOT:     reduce to
// CHECK:         tg.where
// CHECK-LABEL: tg.kernel @parts_1
// CHECK-NOT:     tg.where
// CHECK-LABEL: func.func @parts

func.func @often(%x: tensor<16x30xf32>, %w: tensor<32x64xf32>) -> tensor<16x1x64xf32> {
  %0 = tg.pad %x at [0, 1] to [16, 32] fill 0.0 : f32 : tensor<16x30xf32> -> tensor<16x32xf32>
  %1 = tg.reshape %0 [16, 32, 1] : tensor<16x32xf32> -> tensor<16x32x1xf32>
  %2 = tg.reshape %w [1, 32, 64] : tensor<32x64xf32> -> tensor<1x32x64xf32>
  %3 = tg.mul %1, %2 : (tensor<16x32x1xf32>, tensor<1x32x64xf32>) -> tensor<16x32x64xf32>
  %4 = tg.reduce add %3 [1] : tensor<16x32x64xf32> -> tensor<16x1x64xf32>
  func.return %4 : tensor<16x1x64xf32>
}

func.func @seldom(%x: tensor<16x30xf32>, %w: tensor<32x8xf32>) -> tensor<16x1x8xf32> {
  %0 = tg.pad %x at [0, 1] to [16, 32] fill 0.0 : f32 : tensor<16x30xf32> -> tensor<16x32xf32>
  %1 = tg.reshape %0 [16, 32, 1] : tensor<16x32xf32> -> tensor<16x32x1xf32>
  %2 = tg.reshape %w [1, 32, 8] : tensor<32x8xf32> -> tensor<1x32x8xf32>
  %3 = tg.mul %1, %2 : (tensor<16x32x1xf32>, tensor<1x32x8xf32>) -> tensor<16x32x8xf32>
  %4 = tg.reduce add %3 [1] : tensor<16x32x8xf32> -> tensor<16x1x8xf32>
  func.return %4 : tensor<16x1x8xf32>
}

func.func @parts(%x: tensor<16x30xf32>, %w: tensor<32x64xf32>) -> tensor<16x2x1x64xf32> {
  %0 = tg.pad %x at [0, 1] to [16, 32] fill 0.0 : f32 : tensor<16x30xf32> -> tensor<16x32xf32>
  %1 = tg.reshape %0 [16, 32, 1] : tensor<16x32xf32> -> tensor<16x32x1xf32>
  %2 = tg.reshape %w [1, 32, 64] : tensor<32x64xf32> -> tensor<1x32x64xf32>
  %3 = tg.mul %1, %2 : (tensor<16x32x1xf32>, tensor<1x32x64xf32>) -> tensor<16x32x64xf32>
  %4 = tg.reshape %3 [16, 2, 16, 64] : tensor<16x32x64xf32> -> tensor<16x2x16x64xf32>
  %5 = tg.reduce add %4 [2] : tensor<16x2x16x64xf32> -> tensor<16x2x1x64xf32>
  func.return %5 : tensor<16x2x1x64xf32>
}

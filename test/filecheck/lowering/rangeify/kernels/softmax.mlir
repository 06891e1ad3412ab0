// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify | filecheck %s

// Softmax: the exponentials of a row are kept for the division.

// A short row.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tg.reduce max %x [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %1 = tg.sub %x, %0 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %2 = tg.const 1.44269502 : tensor<f32>
  %3 = tg.mul %1, %2 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %4 = tg.exp2 %3 : tensor<2x4xf32>
  %5 = tg.reduce add %4 [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %6 = tg.div %4, %5 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  func.return %6 : tensor<2x4xf32>
}

// -----

// Rows of a thousand.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<512x1000xf32>) -> tensor<512x1000xf32> {
  %0 = tg.reduce max %x [1] : tensor<512x1000xf32> -> tensor<512x1xf32>
  %1 = tg.sub %x, %0 : (tensor<512x1000xf32>, tensor<512x1xf32>) -> tensor<512x1000xf32>
  %2 = tg.const 1.44269502 : tensor<f32>
  %3 = tg.mul %1, %2 : (tensor<512x1000xf32>, tensor<f32>) -> tensor<512x1000xf32>
  %4 = tg.exp2 %3 : tensor<512x1000xf32>
  %5 = tg.reduce add %4 [1] : tensor<512x1000xf32> -> tensor<512x1xf32>
  %6 = tg.div %4, %5 : (tensor<512x1000xf32>, tensor<512x1xf32>) -> tensor<512x1000xf32>
  func.return %6 : tensor<512x1000xf32>
}

// -----

// Rows that no cache holds: the exponentials are computed twice.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<8x100000xf32>) -> tensor<8x100000xf32> {
  %0 = tg.reduce max %x [1] : tensor<8x100000xf32> -> tensor<8x1xf32>
  %1 = tg.sub %x, %0 : (tensor<8x100000xf32>, tensor<8x1xf32>) -> tensor<8x100000xf32>
  %2 = tg.const 1.44269502 : tensor<f32>
  %3 = tg.mul %1, %2 : (tensor<8x100000xf32>, tensor<f32>) -> tensor<8x100000xf32>
  %4 = tg.exp2 %3 : tensor<8x100000xf32>
  %5 = tg.reduce add %4 [1] : tensor<8x100000xf32> -> tensor<8x1xf32>
  %6 = tg.div %4, %5 : (tensor<8x100000xf32>, tensor<8x1xf32>) -> tensor<8x100000xf32>
  func.return %6 : tensor<8x100000xf32>
}

// -----

// Over columns: the loop over columns is the outer one.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK:           %[[COLUMNS:.*]] = tg.const 32
// CHECK:           %[[J:.*]] = tg.range {{.*}} loop to %[[COLUMNS]]
// CHECK:           tg.end %{{.*}} over %{{.*}}, %[[J]]
// CHECK-NOT:     tg.kernel
// CHECK:         func.func @main
func.func @main(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = tg.reduce max %x [0] : tensor<64x32xf32> -> tensor<1x32xf32>
  %1 = tg.sub %x, %0 : (tensor<64x32xf32>, tensor<1x32xf32>) -> tensor<64x32xf32>
  %2 = tg.const 1.44269502 : tensor<f32>
  %3 = tg.mul %1, %2 : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %4 = tg.exp2 %3 : tensor<64x32xf32>
  %5 = tg.reduce add %4 [0] : tensor<64x32xf32> -> tensor<1x32xf32>
  %6 = tg.div %4, %5 : (tensor<64x32xf32>, tensor<1x32xf32>) -> tensor<64x32xf32>
  func.return %6 : tensor<64x32xf32>
}

// -----

// The maximum is a result as well: it is computed there, and read from there.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK:         tg.kernel @main_1
// CHECK-NOT:     tg.kernel
// CHECK-LABEL:   func.func @main
// CHECK:           %[[CALL:.*]] = tg.call @main_0(%out0, %x)
// CHECK-NEXT:      %[[MAX:.*]] = tg.after %out0, %[[CALL]]
// CHECK-NEXT:      tg.call @main_1(%out1, %x, %[[MAX]])
func.func @main(%x: tensor<64x32xf32>) -> (tensor<64x1xf32>, tensor<64x1xf32>) {
  %0 = tg.reduce max %x [1] : tensor<64x32xf32> -> tensor<64x1xf32>
  %1 = tg.sub %x, %0 : (tensor<64x32xf32>, tensor<64x1xf32>) -> tensor<64x32xf32>
  %2 = tg.exp2 %1 : tensor<64x32xf32>
  %3 = tg.reduce add %2 [1] : tensor<64x32xf32> -> tensor<64x1xf32>
  func.return %0, %3 : tensor<64x1xf32>, tensor<64x1xf32>
}

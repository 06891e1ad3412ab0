// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-verify{level=kernels}' | filecheck %s

// Two products in a row. Constant weights are packed once. So vectors lie along the channels, not
// the cells, of what is between the kernels: these are its last axis in memory.

// CHECK-LABEL: tg.kernel @constant_0
// CHECK:         [[OUT:%\S+]] = tg.param 0 : tensor<1x36x32xf32, #tg.place<global>>
// CHECK:         [[CELL:%\S+]] = tg.range 0 loop
// CHECK:         [[CHANNEL:%\S+]] = tg.range 1 loop
// CHECK:         tg.index [[OUT]][{{%\S+}}, [[CELL]], [[CHANNEL]]]
// CHECK-LABEL: tg.kernel @constant_1
// CHECK:         [[STEP:%\S+]] = tg.range 2 reduce
// CHECK:         [[IN:%\S+]] = tg.param 1 : tensor<1x36x32xf32, #tg.place<global>>
// CHECK:         tg.index [[IN]][{{%\S+}}, {{%\S+}}, [[STEP]]]

// Of weights that vary and cells, either is packed in each call. So the axes stay in order.

// CHECK-LABEL: func.func @varying
// CHECK:         tg.buffer 0 : tensor<32x1x36xf32

builtin.module attributes {tg.target = #tg.target<"cpu", features = ["avx2", "fma"]>} {
  func.func @constant(%x: tensor<16x36xf32>, %v: tensor<32x16xf32> {tg.constant}, %w: tensor<32x32xf32> {tg.constant}) -> tensor<32x36xf32> {
    %0 = tg.reshape %x [1, 16, 36] : tensor<16x36xf32> -> tensor<1x16x36xf32>
    %1 = tg.reshape %v [32, 16, 1] : tensor<32x16xf32> -> tensor<32x16x1xf32>
    %2 = tg.mul %0, %1 : (tensor<1x16x36xf32>, tensor<32x16x1xf32>) -> tensor<32x16x36xf32>
    %3 = tg.reduce add %2 [1] : tensor<32x16x36xf32> -> tensor<32x1x36xf32>
    %4 = tg.reshape %3 [1, 32, 36] : tensor<32x1x36xf32> -> tensor<1x32x36xf32>
    %5 = tg.reshape %w [32, 32, 1] : tensor<32x32xf32> -> tensor<32x32x1xf32>
    %6 = tg.mul %4, %5 : (tensor<1x32x36xf32>, tensor<32x32x1xf32>) -> tensor<32x32x36xf32>
    %7 = tg.reduce add %6 [1] : tensor<32x32x36xf32> -> tensor<32x1x36xf32>
    %8 = tg.reshape %7 [32, 36] : tensor<32x1x36xf32> -> tensor<32x36xf32>
    func.return %8 : tensor<32x36xf32>
  }

  func.func @varying(%x: tensor<16x36xf32>, %v: tensor<32x16xf32>, %w: tensor<32x32xf32>) -> tensor<32x36xf32> {
    %0 = tg.reshape %x [1, 16, 36] : tensor<16x36xf32> -> tensor<1x16x36xf32>
    %1 = tg.reshape %v [32, 16, 1] : tensor<32x16xf32> -> tensor<32x16x1xf32>
    %2 = tg.mul %0, %1 : (tensor<1x16x36xf32>, tensor<32x16x1xf32>) -> tensor<32x16x36xf32>
    %3 = tg.reduce add %2 [1] : tensor<32x16x36xf32> -> tensor<32x1x36xf32>
    %4 = tg.reshape %3 [1, 32, 36] : tensor<32x1x36xf32> -> tensor<1x32x36xf32>
    %5 = tg.reshape %w [32, 32, 1] : tensor<32x32xf32> -> tensor<32x32x1xf32>
    %6 = tg.mul %4, %5 : (tensor<1x32x36xf32>, tensor<32x32x1xf32>) -> tensor<32x32x36xf32>
    %7 = tg.reduce add %6 [1] : tensor<32x32x36xf32> -> tensor<32x1x36xf32>
    %8 = tg.reshape %7 [32, 36] : tensor<32x1x36xf32> -> tensor<32x36xf32>
    func.return %8 : tensor<32x36xf32>
  }
}

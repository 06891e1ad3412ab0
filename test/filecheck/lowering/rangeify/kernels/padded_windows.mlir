// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-verify{level=kernels}' | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=avx2 threads=1}' | filecheck %s --check-prefix=ORDER

// A sum over windows, as of a depthwise convolution, reads a padded row from a LOCAL buffer.

// CHECK-LABEL: tg.kernel @depthwise_0
// CHECK:         tg.where
// CHECK:         tg.buffer {{.*}} : tensor<208xf32, #tg.place<local>>
// CHECK-NOT:     tg.where
// CHECK:         tg.reduce
// CHECK-NOT:   tg.kernel @depthwise_1

// The loop around the copy stays outside of those that use it.

// ORDER-LABEL: tg.kernel @depthwise_0
// ORDER-NOT:     order

// The windows of a prefix sum are no windows of a copy: it is a scan.

// CHECK-LABEL: tg.kernel @prefix_0
// CHECK-NOT:     tensor<{{.*}}, #tg.place<local>>
// CHECK-LABEL: func.func @prefix

func.func @depthwise(%x: tensor<4x200xf32>, %w: tensor<4x9xf32>) -> tensor<4x200x1xf32> {
  %0 = tg.pad %x at [0, 4] to [4, 208] fill 0.0 : f32 : tensor<4x200xf32> -> tensor<4x208xf32>
  %1 = tg.reshape %0 [4, 1, 208] : tensor<4x208xf32> -> tensor<4x1x208xf32>
  %2 = tg.expand %1 [4, 10, 208] : tensor<4x1x208xf32> -> tensor<4x10x208xf32>
  %3 = tg.reshape %2 [4, 2080] : tensor<4x10x208xf32> -> tensor<4x2080xf32>
  %4 = tg.shrink %3 at [0, 0] to [4, 1881] : tensor<4x2080xf32> -> tensor<4x1881xf32>
  %5 = tg.reshape %4 [4, 9, 209] : tensor<4x1881xf32> -> tensor<4x9x209xf32>
  %6 = tg.shrink %5 at [0, 0, 0] to [4, 9, 200] : tensor<4x9x209xf32> -> tensor<4x9x200xf32>
  %7 = tg.permute %6 [0, 2, 1] : tensor<4x9x200xf32> -> tensor<4x200x9xf32>
  %8 = tg.reshape %w [4, 1, 9] : tensor<4x9xf32> -> tensor<4x1x9xf32>
  %9 = tg.mul %7, %8 : (tensor<4x200x9xf32>, tensor<4x1x9xf32>) -> tensor<4x200x9xf32>
  %10 = tg.reduce add %9 [2] : tensor<4x200x9xf32> -> tensor<4x200x1xf32>
  func.return %10 : tensor<4x200x1xf32>
}

func.func @prefix(%x: tensor<32xf32>) -> tensor<32x1xf32> {
  %0 = tg.pad %x at [31] to [63] fill 0.0 : f32 : tensor<32xf32> -> tensor<63xf32>
  %1 = tg.reshape %0 [1, 63] : tensor<63xf32> -> tensor<1x63xf32>
  %2 = tg.expand %1 [33, 63] : tensor<1x63xf32> -> tensor<33x63xf32>
  %3 = tg.reshape %2 [2079] : tensor<33x63xf32> -> tensor<2079xf32>
  %4 = tg.shrink %3 at [0] to [2048] : tensor<2079xf32> -> tensor<2048xf32>
  %5 = tg.reshape %4 [32, 64] : tensor<2048xf32> -> tensor<32x64xf32>
  %6 = tg.shrink %5 at [0, 0] to [32, 32] : tensor<32x64xf32> -> tensor<32x32xf32>
  %7 = tg.reduce add %6 [1] : tensor<32x32xf32> -> tensor<32x1xf32>
  func.return %7 : tensor<32x1xf32>
}

// RUN: tg-opt %s -p tg-callify,tg-split-reductions | filecheck %s

// The gradient of the weights of a convolution is a sum over windows: its parts fit into L1.

// CHECK: %[[V9:.*]] = tg.reshape %{{.*}} [4, 512, 3, 512] : tensor<2048x3x512xf32, #tg.place<"CPU">> -> tensor<4x512x3x512xf32, #tg.place<"CPU">>
// CHECK-NEXT: %[[V10:.*]] = tg.reduce add %[[V9]] [1] {tg.realised} : tensor<4x512x3x512xf32, #tg.place<"CPU">> -> tensor<4x1x3x512xf32, #tg.place<"CPU">>
// CHECK-NEXT: %[[V11:.*]] = tg.reduce add %[[V10]] [0] : tensor<4x1x3x512xf32, #tg.place<"CPU">> -> tensor<1x1x3x512xf32, #tg.place<"CPU">>
// CHECK-NEXT: %[[V12:.*]] = tg.reshape %[[V11]] [1, 3, 512] : tensor<1x1x3x512xf32, #tg.place<"CPU">> -> tensor<1x3x512xf32, #tg.place<"CPU">>
// CHECK-NEXT: %[[V13:.*]] = tg.store %out0, %[[V12]] : tensor<1x3x512xf32, #tg.place<"CPU", global>>, tensor<1x3x512xf32, #tg.place<"CPU">>

module attributes {tg.target = #tg.target<"cpu", features = ["avx2"], threads = 1>} {
func.func @main(%x: tensor<2050xf32>, %g: tensor<2048x1x512xf32>) -> tensor<1x3x512xf32> {
  %0 = tg.reshape %x [1, 2050] : tensor<2050xf32> -> tensor<1x2050xf32>
  %1 = tg.expand %0 [4, 2050] : tensor<1x2050xf32> -> tensor<4x2050xf32>
  %2 = tg.reshape %1 [8200] : tensor<4x2050xf32> -> tensor<8200xf32>
  %3 = tg.shrink %2 at [0] to [6153] : tensor<8200xf32> -> tensor<6153xf32>
  %4 = tg.reshape %3 [3, 2051] : tensor<6153xf32> -> tensor<3x2051xf32>
  %5 = tg.shrink %4 at [0, 0] to [3, 2048] : tensor<3x2051xf32> -> tensor<3x2048xf32>
  %6 = tg.permute %5 [1, 0] : tensor<3x2048xf32> -> tensor<2048x3xf32>
  %7 = tg.reshape %6 [2048, 3, 1] : tensor<2048x3xf32> -> tensor<2048x3x1xf32>
  %8 = tg.mul %7, %g : (tensor<2048x3x1xf32>, tensor<2048x1x512xf32>) -> tensor<2048x3x512xf32>
  %9 = tg.reduce add %8 [0] : tensor<2048x3x512xf32> -> tensor<1x3x512xf32>
  return %9 : tensor<1x3x512xf32>
}
}

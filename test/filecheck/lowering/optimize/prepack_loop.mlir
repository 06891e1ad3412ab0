// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode=heuristic features="avx2","fma" threads=1},tg-verify{level=kernels})' | filecheck %s

// What the steps of a loop have in common is packed once: the kernel of the loop is passed memory for it, and calls
// the kernel that fills it before the loop.

// CHECK-LABEL: func.func @loop(
// CHECK:         %[[PACKED:.*]] = tg.buffer {{.*}} : tensor<32x512x16xf32, #tg.place<"CPU", global>>
// CHECK:         tg.call @loop_scan_0(%{{.*}}, %w, %[[PACKED]])
// CHECK-LABEL: tg.kernel @loop_scan_0
// CHECK:         %[[MEMORY:.*]] = tg.param 2 : tensor<32x512x16xf32, #tg.place<"CPU", global>>
// CHECK:         %[[W:.*]] = tg.param 1 : tensor<512x512xf32, #tg.place<"CPU", global>>
// CHECK:         %[[DONE:.*]] = tg.call @loop_function_0_0_prepack_2(%[[MEMORY]], %[[W]])
// CHECK-NEXT:    %[[READ:.*]] = tg.after %[[MEMORY]], %[[DONE]]
// CHECK-NEXT:    tg.call @loop_function_0_0(%{{.*}}, %{{.*}}, %[[READ]])
func.func @loop(%h: tensor<16x512xf32>, %w: tensor<512x512xf32>) -> tensor<16x512xf32> {
  %r = tg.scan(%h, %w) states 1 sequences 0 steps 100 {
    %s = tg.param 0 : tensor<16x512xf32>
    %c = tg.param 1 : tensor<512x512xf32>
    %a = tg.reshape %s [16, 512, 1] : tensor<16x512xf32> -> tensor<16x512x1xf32>
    %b = tg.reshape %c [1, 512, 512] : tensor<512x512xf32> -> tensor<1x512x512xf32>
    %p = tg.mul %a, %b : (tensor<16x512x1xf32>, tensor<1x512x512xf32>) -> tensor<16x512x512xf32>
    %q = tg.reduce add %p [1] : tensor<16x512x512xf32> -> tensor<16x1x512xf32>
    %n = tg.reshape %q [16, 512] : tensor<16x1x512xf32> -> tensor<16x512xf32>
    %t = tg.tuple %n : tensor<16x512xf32> -> !tg.tuple<tensor<16x512xf32>>
  } : (tensor<16x512xf32>, tensor<512x512xf32>) -> !tg.tuple<tensor<16x512xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<16x512xf32>> -> tensor<16x512xf32>
  func.return %0 : tensor<16x512xf32>
}

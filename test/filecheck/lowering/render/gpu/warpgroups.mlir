// REQUIRES: mlir
// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_90a" mode=heuristic}' | mlir-opt --gpu-module-to-binary=format=isa | filecheck %s

// Upstream's tools verify a product by wgmma, and make its PTX by themselves.

// CHECK: .target sm_90a
// CHECK: cp.async.cg.shared.global
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK: fence.proxy.async.shared::cta;

func.func @main(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>) -> tensor<256x256xf32> {
  %0 = tg.reshape %a [256, 1, 256] : tensor<256x256xf16> -> tensor<256x1x256xf16>
  %1 = tg.expand %0 [256, 256, 256] : tensor<256x1x256xf16> -> tensor<256x256x256xf16>
  %2 = tg.permute %b [1, 0] : tensor<256x256xf16> -> tensor<256x256xf16>
  %3 = tg.reshape %2 [1, 256, 256] : tensor<256x256xf16> -> tensor<1x256x256xf16>
  %4 = tg.expand %3 [256, 256, 256] : tensor<1x256x256xf16> -> tensor<256x256x256xf16>
  %5 = tg.cast %1 to f32 : tensor<256x256x256xf16> -> tensor<256x256x256xf32>
  %6 = tg.cast %4 to f32 : tensor<256x256x256xf16> -> tensor<256x256x256xf32>
  %7 = tg.mul %5, %6 : tensor<256x256x256xf32>
  %8 = tg.reduce add %7 [2] : tensor<256x256x256xf32> -> tensor<256x256x1xf32>
  %9 = tg.reshape %8 [256, 256] : tensor<256x256x1xf32> -> tensor<256x256xf32>
  return %9 : tensor<256x256xf32>
}

// RUN: tg-opt %s -p 'tg-to-llvm{mode="explicit:split 0, 4, upcast; split 1, 16, upcast; order 1, 0; stage 2, 1, local" features=avx2,fma threads=1 l2=65536}' | filecheck %s

// The column that this kernel packs itself exceeds L1. Each step prefetches what comes 1024 bytes later.

// CHECK-LABEL: llvm.func @main_0(
// CHECK:         %[[LATER:.*]] = llvm.mlir.constant(1087) : i64
// CHECK:         llvm.add %[[LATER]], %{{.*}} : i64
// CHECK:         llvm.call_intrinsic "llvm.prefetch"
// CHECK-NOT:     llvm.prefetch

func.func @main(%x: tensor<320x1024xf32>, %w: tensor<1024x64xf32>) -> tensor<320x64x1xf32> {
  %0 = tg.permute %w [1, 0] : tensor<1024x64xf32> -> tensor<64x1024xf32>
  %1 = tg.reshape %x [320, 1, 1024] : tensor<320x1024xf32> -> tensor<320x1x1024xf32>
  %2 = tg.mul %1, %0 : (tensor<320x1x1024xf32>, tensor<64x1024xf32>) -> tensor<320x64x1024xf32>
  %3 = tg.reduce add %2 [2] : tensor<320x64x1024xf32> -> tensor<320x64x1xf32>
  func.return %3 : tensor<320x64x1xf32>
}

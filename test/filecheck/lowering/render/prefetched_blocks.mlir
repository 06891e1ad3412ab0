// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx2,fma threads=1 l2=65536}' | filecheck %s
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx2,fma threads=1 l2=1048576}' | filecheck %s --check-prefix=FITS
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx2,fma threads=1 l2=65536}' | tg-opt | filecheck %s

// Weights that fill much of L2 are packed, and a product loads them in order. Each step prefetches a part of the next block of columns, 16384 bytes later:
// all of it while 16 tiles of 4 rows use this block. It also prefetches what comes 1024 bytes later in this block.

// CHECK-LABEL: llvm.func @main_0_prepack_2
// CHECK-NOT:     llvm.prefetch
// CHECK-LABEL: llvm.func @main_0(
// CHECK-DAG:     %[[BLOCK:.*]] = llvm.mlir.constant(16384) : i64
// CHECK-DAG:     %[[AHEAD:.*]] = llvm.mlir.constant(1087) : i64
// CHECK:         llvm.add %[[BLOCK]], %{{.*}} : i64
// CHECK:         %[[LINE:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT:    llvm.call_intrinsic "llvm.prefetch"(%[[LINE]], %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i32, i32, i32) -> ()
// CHECK:         llvm.add %[[AHEAD]], %{{.*}} : i64
// CHECK:         llvm.call_intrinsic "llvm.prefetch"
// CHECK-NOT:     llvm.prefetch

// FITS-LABEL:  llvm.func @main_0(
// FITS-NOT:      llvm.prefetch

// Beyond L2 is memory, so that weights are loaded once.
module attributes {tg.target = #tg.target<"cpu", features = [], llc = 65536>} {
func.func @main(%x: tensor<64x256xf32>, %w: tensor<256x256xf32> {tg.constant}) -> tensor<64x256x1xf32> {
  %0 = tg.reshape %x [64, 1, 256] : tensor<64x256xf32> -> tensor<64x1x256xf32>
  %1 = tg.mul %0, %w : (tensor<64x1x256xf32>, tensor<256x256xf32>) -> tensor<64x256x256xf32>
  %2 = tg.reduce add %1 [2] : tensor<64x256x256xf32> -> tensor<64x256x1xf32>
  func.return %2 : tensor<64x256x1xf32>
}
}

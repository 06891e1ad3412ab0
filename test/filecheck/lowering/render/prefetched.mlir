// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx2,fma threads=1 l2=65536}' | filecheck %s
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx2,fma threads=1 l2=1048576}' | filecheck %s --check-prefix=FITS
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx2,fma threads=1 l2=65536}' | tg-opt | filecheck %s

// A matrix in rows, which a product of few rows does not pack. Each step prefetches the columns of its tile in a later row: 10 steps load 960 bytes, two
// lines each, and a row has 2112.
// As in all of these distances, 63 bytes more lead to the last lines of columns that are not aligned.

// CHECK-LABEL: llvm.func @rows_0(
// CHECK:         %[[ROW:.*]] = llvm.mlir.constant(21183) : i64
// CHECK:         llvm.add %[[ROW]], %{{.*}} : i64
// CHECK:         llvm.call_intrinsic "llvm.prefetch"
// CHECK:         llvm.call_intrinsic "llvm.prefetch"
// CHECK-NOT:     llvm.prefetch

func.func @rows(%x: tensor<4x512xf32>, %w: tensor<512x528xf32>) -> tensor<4x528x1xf32> {
  %0 = tg.permute %w [1, 0] : tensor<512x528xf32> -> tensor<528x512xf32>
  %1 = tg.reshape %x [4, 1, 512] : tensor<4x512xf32> -> tensor<4x1x512xf32>
  %2 = tg.mul %1, %0 : (tensor<4x1x512xf32>, tensor<528x512xf32>) -> tensor<4x528x512xf32>
  %3 = tg.reduce add %2 [2] : tensor<4x528x512xf32> -> tensor<4x528x1xf32>
  func.return %3 : tensor<4x528x1xf32>
}

// A kernel that goes over each row twice prefetches the next row, 2048 bytes later, when it goes over one again. It does not prefetch a row that L2 keeps.

// CHECK-LABEL: llvm.func @scaled_0(
// CHECK:         %[[NEXT:.*]] = llvm.mlir.constant(2111) : i64
// CHECK:         llvm.intr.vector.reduce.fadd
// CHECK:         llvm.add %[[NEXT]], %{{.*}} : i64
// CHECK:         llvm.call_intrinsic "llvm.prefetch"
// CHECK:         llvm.load
// CHECK:         llvm.fmul
// CHECK:         llvm.store

// FITS-LABEL:  llvm.func @scaled_0(
// FITS-NOT:      llvm.prefetch

func.func @scaled(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %0 = tg.reduce add %x [1] : tensor<64x512xf32> -> tensor<64x1xf32>
  %1 = tg.mul %x, %0 : (tensor<64x512xf32>, tensor<64x1xf32>) -> tensor<64x512xf32>
  func.return %1 : tensor<64x512xf32>
}

// RUN: tg-opt %s --mlir-print-remarks --pass-pipeline='builtin.module(tg-callify,tg-rangeify)' -o %t.mlir 2>&1 | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify)' -o %t.mlir 2>&1 | filecheck %s --check-prefix=QUIET --allow-empty

// Why each value that had a choice is computed where it is: what the ways would have cost.

// QUIET-NOT: remark

func.func @main(%x: tensor<64x48xf32>, %w: tensor<48x96xf32>) -> tensor<64x96xf32> {
  %xc = tg.reshape %x [64, 48, 1] : tensor<64x48xf32> -> tensor<64x48x1xf32>
  %wr = tg.reshape %w [1, 48, 96] : tensor<48x96xf32> -> tensor<1x48x96xf32>
  %p = tg.mul %xc, %wr : (tensor<64x48x1xf32>, tensor<1x48x96xf32>) -> tensor<64x48x96xf32>
  %d = tg.reduce add %p [1] : tensor<64x48x96xf32> -> tensor<64x1x96xf32>
  %s = tg.reshape %d [64, 96] : tensor<64x1x96xf32> -> tensor<64x96xf32>
  %m = tg.reduce max %s [1] : tensor<64x96xf32> -> tensor<64x1xf32>
  %c = tg.sub %s, %m : (tensor<64x96xf32>, tensor<64x1xf32>) -> tensor<64x96xf32>
  %e = tg.exp2 %c : tensor<64x96xf32>
  %t = tg.reduce add %e [1] : tensor<64x96xf32> -> tensor<64x1xf32>
  %r = tg.div %e, %t : (tensor<64x96xf32>, tensor<64x1xf32>) -> tensor<64x96xf32>
  func.return %r : tensor<64x96xf32>
}

// CHECK:      remarks.mlir:16:8: remark: local: kept in a buffer of the kernel that uses it (2 uses, 1.229e+04 reads of 6144 elements; cost fused {{.*}}, local {{.*}}, realised {{.*}})
// CHECK-NEXT:   %e = tg.exp2
// CHECK:      remarks.mlir:12:8: remark: realised: stored by a kernel of its own (2 uses, {{.*}} local never
// CHECK-NEXT:   %d = tg.reduce

// Fusion is planned twice where kernels copy the windows that they read. Each remark is there once.

// CHECK-NOT:    tg.div
// CHECK:      remark: fused
// CHECK-NEXT:   %r = tg.div {{.*}}tensor<4x200xf32>
// CHECK:      remark: fused
// CHECK-NEXT:   %e = tg.exp2 {{.*}}tensor<4x200xf32>
// CHECK-NOT:    tg.exp2
// CHECK-NOT:    tg.div

func.func @windows(%x: tensor<4x200xf32>, %w: tensor<4x9xf32>) -> tensor<4x200x1xf32> {
  %m = tg.reduce max %x [1] : tensor<4x200xf32> -> tensor<4x1xf32>
  %c = tg.sub %x, %m : (tensor<4x200xf32>, tensor<4x1xf32>) -> tensor<4x200xf32>
  %e = tg.exp2 %c : tensor<4x200xf32>
  %t = tg.reduce add %e [1] : tensor<4x200xf32> -> tensor<4x1xf32>
  %r = tg.div %e, %t : (tensor<4x200xf32>, tensor<4x1xf32>) -> tensor<4x200xf32>
  %0 = tg.pad %r at [0, 4] to [4, 208] fill 0.0 : f32 : tensor<4x200xf32> -> tensor<4x208xf32>
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

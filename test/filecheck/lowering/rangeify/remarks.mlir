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

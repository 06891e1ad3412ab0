// RUN: tg-opt %s --split-input-file -p 'tg-callify,tg-store-before-movement,tg-plan-fusion{target=cpu},tg-verify{level=function}' | filecheck %s
// RUN: tg-opt %s --split-input-file --mlir-print-remarks -p 'tg-callify,tg-store-before-movement,tg-plan-fusion{target=cpu}' -o %t.mlir 2>&1 | filecheck %s --check-prefix=REMARK

// The plan is attributes of ops. A product is stored, and a kernel that reads it keeps a row of
// exponentials; all else is computed where it is used.

// CHECK-LABEL: func.func @softmax_of_product
// CHECK:         %d = tg.reduce add {{.*}} {tg.realised}
// CHECK:         tg.exp2 {{.*}} {tg.local_axes = array<i64: 1>}
// CHECK-NOT:     {tg.
// CHECK:         func.return
// REMARK:      remark: local: kept in a buffer of the kernel that uses it
// REMARK:      remark: realised: stored by a kernel of its own
func.func @softmax_of_product(%x: tensor<64x48xf32>, %w: tensor<48x96xf32>) -> tensor<64x96xf32> {
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

// -----

// The loop over columns is outside, so that a maximum is computed once for each of them.

// CHECK-LABEL: func.func @columns
// CHECK:         tg.store {{.*}} {tg.loop_order = array<i64: 1, 0>}
// REMARK:      remark: loop order [1, 0]: reductions outside of loops run least often
func.func @columns(%x: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %m = tg.reduce max %x [0] : tensor<64x48xf32> -> tensor<1x48xf32>
  %c = tg.sub %x, %m : (tensor<64x48xf32>, tensor<1x48xf32>) -> tensor<64x48xf32>
  func.return %c : tensor<64x48xf32>
}

// -----

// Each group of 4 rows has one maximum: the loop over rows is two loops.

// CHECK-LABEL: func.func @groups
// CHECK:         tg.store {{.*}} {tg.loop_splits = [array<i64: 4>]}
// REMARK:      remark: loops split at {{\[}}[4]]
func.func @groups(%x: tensor<48xf32>) -> tensor<48xf32> {
  %g = tg.reshape %x [12, 4] : tensor<48xf32> -> tensor<12x4xf32>
  %m = tg.reduce max %g [1] : tensor<12x4xf32> -> tensor<12x1xf32>
  %r = tg.expand %m [12, 4] : tensor<12x1xf32> -> tensor<12x4xf32>
  %f = tg.reshape %r [48] : tensor<12x4xf32> -> tensor<48xf32>
  %c = tg.sub %x, %f : tensor<48xf32>
  func.return %c : tensor<48xf32>
}

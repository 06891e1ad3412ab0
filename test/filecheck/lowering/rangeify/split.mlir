// RUN: tg-opt %s --split-input-file --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-verify{level=kernels})' | filecheck %s

// Reductions that share their outer loops share a kernel: the maximum and the sum of a row are computed once for
// the row, and what both the sum and the result need of each element is kept in a buffer of the row.

// CHECK-LABEL: tg.kernel @softmax_0
// CHECK:         %[[I:.*]] = tg.range 0 loop
// CHECK:         %[[J:.*]] = tg.range 1 loop
// CHECK:         tg.reduce max
// CHECK:         %[[E:.*]] = tg.exp2
// CHECK:         %[[ROW:.*]] = tg.buffer 0 : tensor<5xf32, #tg.place<local>>
// CHECK:         %[[S:.*]] = tg.store %{{.*}}, %[[E]]
// CHECK:         %[[END:.*]] = tg.end %[[S]]
// CHECK:         %[[AFTER:.*]] = tg.after %[[ROW]], %[[END]]
// CHECK:         tg.index %[[AFTER]][%[[J]]]
// CHECK-NOT:     tg.exp2
// CHECK:         tg.reduce add
// CHECK-NOT:   tg.kernel
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT:    tg.call @softmax_0(%out0, %x)
func.func @softmax(%x: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %m = tg.reduce max %x [1] : tensor<7x5xf32> -> tensor<7x1xf32>
  %d = tg.sub %x, %m : (tensor<7x5xf32>, tensor<7x1xf32>) -> tensor<7x5xf32>
  %e = tg.exp2 %d : tensor<7x5xf32>
  %s = tg.reduce add %e [1] : tensor<7x5xf32> -> tensor<7x1xf32>
  %r = tg.recip %s : tensor<7x1xf32>
  %o = tg.mul %e, %r : (tensor<7x5xf32>, tensor<7x1xf32>) -> tensor<7x5xf32>
  func.return %o : tensor<7x5xf32>
}

// -----

// What follows a reduction element by element is its epilogue, in the same kernel.

// CHECK-LABEL: tg.kernel @epilogue_0
// CHECK:         tg.reduce add
// CHECK:         tg.exp2
// CHECK-NOT:   tg.kernel
// CHECK-LABEL: func.func @epilogue
func.func @epilogue(%x: tensor<7x5xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %s = tg.reduce add %x [1] : tensor<7x5xf32> -> tensor<7x1xf32>
  %r = tg.reshape %s [7] : tensor<7x1xf32> -> tensor<7xf32>
  %b = tg.add %r, %y : tensor<7xf32>
  %e = tg.exp2 %b : tensor<7xf32>
  func.return %e : tensor<7xf32>
}

// -----

// LOAD makes a buffer because it says so.

// CHECK-LABEL: func.func @load
// CHECK:         tg.call @load_0
// CHECK:         tg.call @load_0
func.func @load(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.neg %x : tensor<4xf32>
  %1 = tg.contiguous %0 : tensor<4xf32>
  %2 = tg.neg %1 : tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// -----

// A value that costs more to compute at every view of it than to keep is kept: in its kernel if that takes a small
// buffer, else by a kernel of its own.

// CHECK-LABEL: tg.kernel @views_0
// CHECK:         tg.pow
// CHECK:         tg.pow
// CHECK-NOT:     tg.pow
// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %p = tg.pow %x, %y : tensor<4x4xf32>
  %q = tg.pow %p, %y : tensor<4x4xf32>
  %t = tg.permute %q [1, 0] : tensor<4x4xf32>
  %r = tg.mul %q, %t : tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: tg.kernel @large_0
// CHECK:         tg.pow
// CHECK-LABEL: tg.kernel @large_1
// CHECK-NOT:     tg.pow
// CHECK-LABEL: func.func @large
// CHECK-NEXT:    %[[B:.*]] = tg.buffer 0 : tensor<256x256xf32
// CHECK-NEXT:    %[[C:.*]] = tg.call @large_0(%[[B]], %x, %y)
// CHECK-NEXT:    %[[A:.*]] = tg.after %[[B]], %[[C]]
// CHECK-NEXT:    tg.call @large_1(%out0, %[[A]])
func.func @large(%x: tensor<256x256xf32>, %y: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %p = tg.pow %x, %y : tensor<256x256xf32>
  %q = tg.pow %p, %y : tensor<256x256xf32>
  %t = tg.permute %q [1, 0] : tensor<256x256xf32>
  %r = tg.mul %q, %t : tensor<256x256xf32>
  func.return %r : tensor<256x256xf32>
}

// -----

// Kernels that do the same are one kernel, called twice.

// CHECK-LABEL: tg.kernel @twice_0
// CHECK-NOT:   tg.kernel
// CHECK:       func.func @twice
// CHECK-NEXT:    tg.call @twice_0(%out0, %x)
// CHECK-NEXT:    tg.call @twice_0(%out1, %y)
func.func @twice(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = tg.exp2 %x : tensor<4xf32>
  %b = tg.exp2 %y : tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// The statistics of a group of channels: the loop over channels is split, so that they are computed once for the group.

// CHECK-LABEL: tg.kernel @groups_0
// CHECK:         %[[N:.*]] = tg.range 0 loop
// CHECK:         %[[G:.*]] = tg.range 1 loop
// CHECK:         %[[C:.*]] = tg.range 2 loop
// CHECK:         tg.reduce max
// CHECK:         tg.sub
// CHECK:         tg.end %{{.*}} over %{{.*}}, %[[C]], %[[G]], %[[N]]
// CHECK-NOT:   tg.kernel
// CHECK:       func.func @groups
func.func @groups(%x: tensor<2x6x5xf32>, %w: tensor<6x1xf32>) -> tensor<2x6x5xf32> {
  %g = tg.reshape %x [2, 3, 10] : tensor<2x6x5xf32> -> tensor<2x3x10xf32>
  %m = tg.reduce max %g [2] : tensor<2x3x10xf32> -> tensor<2x3x1xf32>
  %d = tg.sub %g, %m : (tensor<2x3x10xf32>, tensor<2x3x1xf32>) -> tensor<2x3x10xf32>
  %u = tg.reshape %d [2, 6, 5] : tensor<2x3x10xf32> -> tensor<2x6x5xf32>
  %r = tg.mul %u, %w : (tensor<2x6x5xf32>, tensor<6x1xf32>) -> tensor<2x6x5xf32>
  func.return %r : tensor<2x6x5xf32>
}

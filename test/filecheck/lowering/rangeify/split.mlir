// RUN: tg-opt %s --split-input-file --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-verify{level=kernels})' | filecheck %s

// A reduction that is used more than once per element gets a buffer, and its consumers wait for it.

// CHECK-LABEL: tg.kernel @softmax_0
// CHECK:         tg.reduce max
// CHECK-LABEL: tg.kernel @softmax_1
// CHECK:         tg.exp2
// CHECK:         tg.reduce add
// CHECK-LABEL: tg.kernel @softmax_2
// CHECK:         tg.exp2
// CHECK-NOT:     tg.reduce
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT:    %[[MAX:.*]] = tg.buffer 0 : tensor<7x1xf32, #tg.place<"CPU", global>>
// CHECK-NEXT:    %[[CALL0:.*]] = tg.call @softmax_0(%[[MAX]], %x)
// CHECK-NEXT:    %[[MAX1:.*]] = tg.after %[[MAX]], %[[CALL0]]
// CHECK-NEXT:    %[[SUM:.*]] = tg.buffer 1
// CHECK-NEXT:    %[[CALL1:.*]] = tg.call @softmax_1(%[[SUM]], %x, %[[MAX1]])
// CHECK-NEXT:    %[[SUM1:.*]] = tg.after %[[SUM]], %[[CALL1]]
// CHECK-NEXT:    tg.call @softmax_2(%out0, %x, %[[MAX1]], %[[SUM1]])
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
// CHECK:         tg.call @load_1
func.func @load(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.neg %x : tensor<4xf32>
  %1 = tg.contiguous %0 : tensor<4xf32>
  %2 = tg.neg %1 : tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

// -----

// A value that costs more to compute at every view of it than to store is stored.

// CHECK-LABEL: tg.kernel @views_0
// CHECK:         tg.pow
// CHECK-LABEL: tg.kernel @views_1
// CHECK-NOT:     tg.pow
// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %p = tg.pow %x, %y : tensor<4x4xf32>
  %q = tg.pow %p, %y : tensor<4x4xf32>
  %t = tg.permute %q [1, 0] : tensor<4x4xf32>
  %r = tg.mul %q, %t : tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

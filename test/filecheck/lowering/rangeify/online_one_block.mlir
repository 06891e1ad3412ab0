// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=cpu}' | filecheck %s

// All 64 keys of this attention are one block on a CPU. Nothing is kept for another block: there are
// buffers for scores, maxima and the sums of exponentials, and no exponential of a change of maxima. The
// sums of the columns are computed where they are stored.

// CHECK:     tg.kernel
// CHECK:       tg.buffer 0 : tensor<64x[[R:[0-9]+]]xf32, #tg.place<local>>
// CHECK-NEXT:  tg.buffer 1 : tensor<[[R]]xf32, #tg.place<local>>
// CHECK-NEXT:  tg.buffer 2 : tensor<[[R]]xf32, #tg.place<local>>
// CHECK-NOT:   tg.buffer
// CHECK:       tg.reduce max
// CHECK:       tg.exp2
// CHECK-NOT:   tg.exp2
// CHECK:       %[[SUM:.*]] = tg.reduce add
// CHECK:       tg.store %{{.*}}, %[[SUM]]
// CHECK:       %[[COLUMN:.*]] = tg.reduce add
// CHECK:       %[[KNOWN:.*]] = tg.where %{{.*}}, %[[COLUMN]], %{{.*}}
// CHECK:       tg.div
// CHECK:       %[[RESULT:.*]] = tg.mul %[[KNOWN]]
// CHECK:       tg.store %{{.*}}, %[[RESULT]]
// CHECK-NOT:   tg.store
// CHECK:       tg.sink

func.func @main(%q: tensor<64x16xf32>, %k: tensor<64x16xf32>, %v: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = tg.reshape %q [64, 1, 16] : tensor<64x16xf32> -> tensor<64x1x16xf32>
  %1 = tg.reshape %k [1, 64, 16] : tensor<64x16xf32> -> tensor<1x64x16xf32>
  %2 = tg.mul %0, %1 : (tensor<64x1x16xf32>, tensor<1x64x16xf32>) -> tensor<64x64x16xf32>
  %3 = tg.reduce add %2 [2] : tensor<64x64x16xf32> -> tensor<64x64x1xf32>
  %4 = tg.reshape %3 [64, 64] : tensor<64x64x1xf32> -> tensor<64x64xf32>
  %5 = tg.reduce max %4 [1] : tensor<64x64xf32> -> tensor<64x1xf32>
  %6 = tg.sub %4, %5 : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %7 = tg.exp2 %6 : tensor<64x64xf32>
  %8 = tg.reduce add %7 [1] : tensor<64x64xf32> -> tensor<64x1xf32>
  %9 = tg.div %7, %8 : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %10 = tg.reshape %9 [64, 1, 64] : tensor<64x64xf32> -> tensor<64x1x64xf32>
  %11 = tg.permute %v [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  %12 = tg.reshape %11 [1, 32, 64] : tensor<32x64xf32> -> tensor<1x32x64xf32>
  %13 = tg.mul %10, %12 : (tensor<64x1x64xf32>, tensor<1x32x64xf32>) -> tensor<64x32x64xf32>
  %14 = tg.reduce add %13 [2] : tensor<64x32x64xf32> -> tensor<64x32x1xf32>
  %15 = tg.reshape %14 [64, 32] : tensor<64x32x1xf32> -> tensor<64x32xf32>
  func.return %15 : tensor<64x32xf32>
}

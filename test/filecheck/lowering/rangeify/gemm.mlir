// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-verify{level=kernels})' | filecheck %s

// Movement ops leave nothing behind but the indices of LOADs; a REDUCE over an axis is one over a range.

func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %0 = tg.reshape %a [4, 8, 1] : tensor<4x8xf32> -> tensor<4x8x1xf32>
  %1 = tg.reshape %b [1, 8, 5] : tensor<8x5xf32> -> tensor<1x8x5xf32>
  %2 = tg.mul %0, %1 : (tensor<4x8x1xf32>, tensor<1x8x5xf32>) -> tensor<4x8x5xf32>
  %3 = tg.reduce add %2 [1] : tensor<4x8x5xf32> -> tensor<4x1x5xf32>
  %4 = tg.reshape %3 [4, 5] : tensor<4x1x5xf32> -> tensor<4x5xf32>
  func.return %4 : tensor<4x5xf32>
}

// CHECK:      tg.kernel @main_0 {
// CHECK-NEXT:   %out0 = tg.param 0 : tensor<4x5xf32, #tg.place<global>>
// CHECK-NEXT:   %[[M:.*]] = tg.const 4 : tensor<index>
// CHECK-NEXT:   %[[I:.*]] = tg.range 0 loop to %[[M]]
// CHECK-NEXT:   %[[N:.*]] = tg.const 5 : tensor<index>
// CHECK-NEXT:   %[[J:.*]] = tg.range 1 loop to %[[N]]
// CHECK:        %[[K:.*]] = tg.range 2 reduce to
// CHECK:        tg.index %a[%[[I]], %[[K]]]
// CHECK:        tg.index %b[%[[K]], %[[J]]]
// CHECK:        %[[P:.*]] = tg.mul
// CHECK-NEXT:   %[[S:.*]] = tg.reduce add %[[P]] [] over %[[K]]
// CHECK-NEXT:   %[[O:.*]] = tg.index %out0[%[[I]], %[[J]]]
// CHECK-NEXT:   %[[W:.*]] = tg.store %[[O]], %[[S]]
// CHECK-NEXT:   %[[E:.*]] = tg.end %[[W]] over %[[J]], %[[I]]
// CHECK-NEXT:   tg.sink %[[E]]
// CHECK:      func.func @main
// CHECK-NEXT:   %[[C:.*]] = tg.call @main_0(%out0, %a, %b)
// CHECK-NEXT:   tg.sink %[[C]]
// CHECK-NEXT:   func.return

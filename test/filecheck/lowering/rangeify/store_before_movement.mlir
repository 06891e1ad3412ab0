// RUN: tg-opt %s -p tg-callify,tg-store-before-movement | filecheck %s

// The loops are those of the value before it is moved.

// CHECK:      [[SUM:%\S+]] = tg.add
// CHECK-NEXT: [[FLAT:%\S+]] = tg.reshape %out0 [8, 4]
// CHECK-NEXT: [[VIEW:%\S+]] = tg.permute [[FLAT]] [1, 0]
// CHECK-NEXT: tg.store [[VIEW]], [[SUM]]
func.func @main(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %s = tg.add %x, %x : tensor<4x8xf32>
  %p = tg.permute %s [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %r = tg.reshape %p [32] : tensor<8x4xf32> -> tensor<32xf32>
  func.return %r : tensor<32xf32>
}

// RUN: tg-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: @twice
// CHECK-NEXT: %0 = tg.contiguous %x
// CHECK-NEXT: %1 = tg.detach %x
// CHECK-NEXT: %2 = tg.contiguous_backward %x
// CHECK-NEXT: func.return %0, %1, %2
func.func @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = tg.contiguous %x : tensor<4xf32>
  %1 = tg.contiguous %0 : tensor<4xf32>
  %2 = tg.detach %x : tensor<4xf32>
  %3 = tg.detach %2 : tensor<4xf32>
  %4 = tg.contiguous_backward %x : tensor<4xf32>
  %5 = tg.contiguous_backward %4 : tensor<4xf32>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Different marks are both kept.
// CHECK-LABEL: @mixed
// CHECK-NEXT: tg.detach
// CHECK-NEXT: tg.contiguous
func.func @mixed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.detach %x : tensor<4xf32>
  %1 = tg.contiguous %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

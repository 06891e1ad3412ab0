// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-verify{level=kernels}' | filecheck %s

// A sum of two products of matrices: one of them is stored, and read where the other is computed.
// In one kernel their register tiles would share the registers.

// CHECK-LABEL: tg.kernel @sum_0
// CHECK-COUNT-1: tg.reduce add
// CHECK-LABEL: tg.kernel @sum_1
// CHECK-COUNT-1: tg.reduce add
// CHECK-LABEL: func.func @sum

func.func @sum(%a: tensor<32x64x1xf32>, %b: tensor<1x64x48xf32>, %c: tensor<32x96x1xf32>, %d: tensor<1x96x48xf32>) -> tensor<32x1x48xf32> {
  %0 = tg.mul %a, %b : (tensor<32x64x1xf32>, tensor<1x64x48xf32>) -> tensor<32x64x48xf32>
  %1 = tg.reduce add %0 [1] : tensor<32x64x48xf32> -> tensor<32x1x48xf32>
  %2 = tg.mul %c, %d : (tensor<32x96x1xf32>, tensor<1x96x48xf32>) -> tensor<32x96x48xf32>
  %3 = tg.reduce add %2 [1] : tensor<32x96x48xf32> -> tensor<32x1x48xf32>
  %4 = tg.add %1, %3 : tensor<32x1x48xf32>
  func.return %4 : tensor<32x1x48xf32>
}

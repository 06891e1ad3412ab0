// A step of decoding returns a longer copy of the keys that it reads. The copy is made right after
// the product that reads them, while caches hold them; in the program it comes last.

// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify)' | filecheck %s

// CHECK-LABEL: func.func @main(
// CHECK:         tg.call @main_0(%{{.*}}, %query, %keys)
// CHECK-NEXT:    tg.after
// CHECK-NEXT:    tg.call @main_1(%out1, %keys)
// CHECK:         tg.call @main_2(%{{.*}}, %{{.*}}, %weights)
// CHECK:         tg.call @main_0(%out0, %{{.*}}, %weights)
func.func @main(%query: tensor<1x8xf32>, %keys: tensor<64x8xf32>, %weights: tensor<64x8xf32>) -> (tensor<64x1xf32>, tensor<65x8xf32>) {
  %0 = tg.mul %query, %keys : (tensor<1x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
  %scores = tg.reduce add %0 [1] : tensor<64x8xf32> -> tensor<64x1xf32>
  %1 = tg.mul %scores, %weights : (tensor<64x1xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
  %sums = tg.reduce add %1 [0] : tensor<64x8xf32> -> tensor<1x8xf32>
  %2 = tg.mul %sums, %weights : (tensor<1x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
  %result = tg.reduce add %2 [1] : tensor<64x8xf32> -> tensor<64x1xf32>
  %longer = tg.pad %keys at [0, 0] to [65, 8] fill 0.0 : f32 : tensor<64x8xf32> -> tensor<65x8xf32>
  return %result, %longer : tensor<64x1xf32>, tensor<65x8xf32>
}

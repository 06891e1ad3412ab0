// RUN: tg-run %s --target=interpreter --input 2xf32=-3,-5 | filecheck %s

// PAD makes cells that are not there. A result is memory, where they are 0.
// CHECK:      dense<[0.0, -3.0, -5.0, 0.0]> : tensor<4xf32>
// Adding 1 leaves them so; a maximum skips them, but not once CONTIGUOUS has made zeros of them.
// CHECK-NEXT: dense<[0.0, -2.0, -4.0, 0.0]> : tensor<4xf32>
// CHECK-NEXT: dense<[-3.0]> : tensor<1xf32>
// CHECK-NEXT: dense<[0.0]> : tensor<1xf32>
// With `fill` they have a value; and the maximum of no cells at all is that of the dtype's least.
// CHECK-NEXT: dense<[7.0, -3.0, -5.0, 7.0]> : tensor<4xf32>
// CHECK-NEXT: dense<[-inf]> : tensor<1xf32>

func.func @main(%x: tensor<2xf32>) -> (
    tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<4xf32>, tensor<1xf32>) {
  %one = tg.const 1.0 : tensor<f32>
  %nothing = tg.const invalid : tensor<f32>
  %padded = tg.pad %x at [1] to [4] : tensor<2xf32> -> tensor<4xf32>
  %sum = tg.add %padded, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %max = tg.reduce max %padded [0] : tensor<4xf32> -> tensor<1xf32>
  %memory = tg.contiguous %padded : tensor<4xf32>
  %max_of_memory = tg.reduce max %memory [0] : tensor<4xf32> -> tensor<1xf32>
  %filled = tg.pad %x at [1] to [4] fill 7.0 : f32 : tensor<2xf32> -> tensor<4xf32>
  %gone = tg.add %x, %nothing : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %least = tg.reduce max %gone [0] : tensor<2xf32> -> tensor<1xf32>
  return %padded, %sum, %max, %max_of_memory, %filled, %least :
    tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<4xf32>, tensor<1xf32>
}

// Layer normalisation over the last axis: (x - mean) / sqrt(variance + epsilon) * weight + bias.

// RUN: tg-run %s --target=interpreter --digits=4 --input 2x4xf32=1,2,3,4,-1,0,0,1 --input 4xf32=1,1,2,0.5 --input 4xf32=0,0,0,10 | filecheck %s
// RUN: tg-run %s --target=cpu --digits=4 --input 2x4xf32=1,2,3,4,-1,0,0,1 --input 4xf32=1,1,2,0.5 --input 4xf32=0,0,0,10 | filecheck %s
// RUN: xdsl-opt %s -p tg-to-llvm -t llvm | %verify-llvm
// CHECK: dense<{{\[\[}}-1.342, -0.4472, 0.8944, 10.67], [-1.414, 0.0, 0.0, 10.71]]> : tensor<2x4xf32>

func.func @main(%x: tensor<2x4xf32>, %weight: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<2x4xf32> {
  %share = tg.const 0.25 : tensor<f32>
  %epsilon = tg.const 1.0e-5 : tensor<f32>

  %sum = tg.reduce add %x [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %mean = tg.mul %sum, %share : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %centered = tg.sub %x, %mean : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>

  %squares = tg.mul %centered, %centered : tensor<2x4xf32>
  %total = tg.reduce add %squares [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %variance = tg.mul %total, %share : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %positive = tg.add %variance, %epsilon : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %deviation = tg.sqrt %positive : tensor<2x1xf32>

  %normal = tg.div %centered, %deviation : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %scaled = tg.mul %normal, %weight : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %result = tg.add %scaled, %bias : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %result : tensor<2x4xf32>
}

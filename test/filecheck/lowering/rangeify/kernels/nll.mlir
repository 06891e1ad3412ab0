// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify | filecheck %s

// The mean negative log-likelihood of a log-softmax: at most two kernels. The one-hot mask of the target
// becomes a load.

// Ten classes.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<64x10xf32>, %target: tensor<64xi32>) -> tensor<f32> {
  %0 = tg.reduce max %x [1] : tensor<64x10xf32> -> tensor<64x1xf32>
  %1 = tg.sub %x, %0 : (tensor<64x10xf32>, tensor<64x1xf32>) -> tensor<64x10xf32>
  %2 = tg.const 1.44269502 : tensor<f32>
  %3 = tg.mul %1, %2 : (tensor<64x10xf32>, tensor<f32>) -> tensor<64x10xf32>
  %4 = tg.exp2 %3 : tensor<64x10xf32>
  %5 = tg.reduce add %4 [1] : tensor<64x10xf32> -> tensor<64x1xf32>
  %6 = tg.log2 %5 : tensor<64x1xf32>
  %7 = tg.const 0.693147182 : tensor<f32>
  %8 = tg.mul %6, %7 : (tensor<64x1xf32>, tensor<f32>) -> tensor<64x1xf32>
  %9 = tg.sub %1, %8 : (tensor<64x10xf32>, tensor<64x1xf32>) -> tensor<64x10xf32>
  %10 = tg.const 1 : tensor<i32>
  %11 = tg.reshape %10 [1] : tensor<i32> -> tensor<1xi32>
  %12 = tg.expand %11 [10] : tensor<1xi32> -> tensor<10xi32>
  %13 = tg.pad %12 at [9] to [19] : tensor<10xi32> -> tensor<19xi32>
  %14 = tg.reshape %13 [1, 19] : tensor<19xi32> -> tensor<1x19xi32>
  %15 = tg.expand %14 [11, 19] : tensor<1x19xi32> -> tensor<11x19xi32>
  %16 = tg.reshape %15 [209] : tensor<11x19xi32> -> tensor<209xi32>
  %17 = tg.shrink %16 at [0] to [200] : tensor<209xi32> -> tensor<200xi32>
  %18 = tg.reshape %17 [10, 20] : tensor<200xi32> -> tensor<10x20xi32>
  %19 = tg.shrink %18 at [0, 0] to [10, 10] : tensor<10x20xi32> -> tensor<10x10xi32>
  %20 = tg.reduce add %19 [1] : tensor<10x10xi32> -> tensor<10x1xi32>
  %21 = tg.reshape %20 [10] : tensor<10x1xi32> -> tensor<10xi32>
  %22 = tg.const 1 : tensor<i32>
  %23 = tg.sub %21, %22 : (tensor<10xi32>, tensor<i32>) -> tensor<10xi32>
  %24 = tg.reshape %23 [1, 10] : tensor<10xi32> -> tensor<1x10xi32>
  %25 = tg.reshape %target [64, 1] : tensor<64xi32> -> tensor<64x1xi32>
  %26 = tg.cmpeq %24, %25 : (tensor<1x10xi32>, tensor<64x1xi32>) -> tensor<64x10xi1>
  %27 = tg.cast %26 to f32 : tensor<64x10xi1> -> tensor<64x10xf32>
  %28 = tg.mul %9, %27 : tensor<64x10xf32>
  %29 = tg.reduce add %28 [1] : tensor<64x10xf32> -> tensor<64x1xf32>
  %30 = tg.reshape %29 [64] : tensor<64x1xf32> -> tensor<64xf32>
  %31 = tg.reduce add %30 [0] : tensor<64xf32> -> tensor<1xf32>
  %32 = tg.reshape %31 [] : tensor<1xf32> -> tensor<f32>
  %33 = tg.const -1.562500e-02 : tensor<f32>
  %34 = tg.mul %32, %33 : tensor<f32>
  func.return %34 : tensor<f32>
}

// -----

// A vocabulary.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<128x50257xf32>, %target: tensor<128xi32>) -> tensor<f32> {
  %0 = tg.reduce max %x [1] : tensor<128x50257xf32> -> tensor<128x1xf32>
  %1 = tg.sub %x, %0 : (tensor<128x50257xf32>, tensor<128x1xf32>) -> tensor<128x50257xf32>
  %2 = tg.const 1.44269502 : tensor<f32>
  %3 = tg.mul %1, %2 : (tensor<128x50257xf32>, tensor<f32>) -> tensor<128x50257xf32>
  %4 = tg.exp2 %3 : tensor<128x50257xf32>
  %5 = tg.reduce add %4 [1] : tensor<128x50257xf32> -> tensor<128x1xf32>
  %6 = tg.log2 %5 : tensor<128x1xf32>
  %7 = tg.const 0.693147182 : tensor<f32>
  %8 = tg.mul %6, %7 : (tensor<128x1xf32>, tensor<f32>) -> tensor<128x1xf32>
  %9 = tg.sub %1, %8 : (tensor<128x50257xf32>, tensor<128x1xf32>) -> tensor<128x50257xf32>
  %10 = tg.const 1 : tensor<i32>
  %11 = tg.reshape %10 [1] : tensor<i32> -> tensor<1xi32>
  %12 = tg.expand %11 [50257] : tensor<1xi32> -> tensor<50257xi32>
  %13 = tg.pad %12 at [50256] to [100513] : tensor<50257xi32> -> tensor<100513xi32>
  %14 = tg.reshape %13 [1, 100513] : tensor<100513xi32> -> tensor<1x100513xi32>
  %15 = tg.expand %14 [50258, 100513] : tensor<1x100513xi32> -> tensor<50258x100513xi32>
  %16 = tg.reshape %15 [5051582354] : tensor<50258x100513xi32> -> tensor<5051582354xi32>
  %17 = tg.shrink %16 at [0] to [5051532098] : tensor<5051582354xi32> -> tensor<5051532098xi32>
  %18 = tg.reshape %17 [50257, 100514] : tensor<5051532098xi32> -> tensor<50257x100514xi32>
  %19 = tg.shrink %18 at [0, 0] to [50257, 50257] : tensor<50257x100514xi32> -> tensor<50257x50257xi32>
  %20 = tg.reduce add %19 [1] : tensor<50257x50257xi32> -> tensor<50257x1xi32>
  %21 = tg.reshape %20 [50257] : tensor<50257x1xi32> -> tensor<50257xi32>
  %22 = tg.const 1 : tensor<i32>
  %23 = tg.sub %21, %22 : (tensor<50257xi32>, tensor<i32>) -> tensor<50257xi32>
  %24 = tg.reshape %23 [1, 50257] : tensor<50257xi32> -> tensor<1x50257xi32>
  %25 = tg.reshape %target [128, 1] : tensor<128xi32> -> tensor<128x1xi32>
  %26 = tg.cmpeq %24, %25 : (tensor<1x50257xi32>, tensor<128x1xi32>) -> tensor<128x50257xi1>
  %27 = tg.cast %26 to f32 : tensor<128x50257xi1> -> tensor<128x50257xf32>
  %28 = tg.mul %9, %27 : tensor<128x50257xf32>
  %29 = tg.reduce add %28 [1] : tensor<128x50257xf32> -> tensor<128x1xf32>
  %30 = tg.reshape %29 [128] : tensor<128x1xf32> -> tensor<128xf32>
  %31 = tg.reduce add %30 [0] : tensor<128xf32> -> tensor<1xf32>
  %32 = tg.reshape %31 [] : tensor<1xf32> -> tensor<f32>
  %33 = tg.const -7.812500e-03 : tensor<f32>
  %34 = tg.mul %32, %33 : tensor<f32>
  func.return %34 : tensor<f32>
}

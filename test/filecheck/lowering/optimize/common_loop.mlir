// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-optimize{mode=heuristic features="avx512f" threads=2},tg-verify{level=kernels})' | filecheck %s

// Threads share images, of which each loads its own, not channels, for which both would load all images.

// CHECK: #tg.opt<split 0, 2, thread, top>
tg.kernel @main_1 {
  %0 = tg.param 0 : tensor<8x14x14x64xf32, #tg.place<global>>
  %1 = tg.const 8 : tensor<index>
  %2 = tg.range 0 loop to %1 : tensor<index>
  %3 = tg.const 14 : tensor<index>
  %4 = tg.range 1 loop to %3 : tensor<index>
  %5 = tg.range 2 loop to %3 : tensor<index>
  %6 = tg.const 64 : tensor<index>
  %7 = tg.range 3 loop to %6 : tensor<index>
  %8 = tg.const 5.000000e-01 : tensor<f32>
  %9 = tg.const 3 : tensor<index>
  %10 = tg.range 4 reduce to %9 : tensor<index>
  %11 = tg.range 5 reduce to %9 : tensor<index>
  %12 = tg.const 32 : tensor<index>
  %13 = tg.range 6 reduce to %12 : tensor<index>
  %14 = tg.param 1 : tensor<8x32x30x30xf32, #tg.place<global>>
  %15 = tg.const 2 : tensor<index>
  %16 = tg.mul %4, %15 : tensor<index>
  %17 = tg.add %16, %11 : tensor<index>
  %18 = tg.mul %5, %15 : tensor<index>
  %19 = tg.add %18, %10 : tensor<index>
  %20 = tg.index %14[%2, %13, %17, %19] : (tensor<8x32x30x30xf32, #tg.place<global>>, tensor<index>, tensor<index>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %21 = tg.load %20 : tensor<f32, #tg.place<global>> -> tensor<f32>
  %22 = tg.param 2 : tensor<64x32x3x3xf32, #tg.place<global>>
  %23 = tg.index %22[%7, %13, %11, %10] : (tensor<64x32x3x3xf32, #tg.place<global>>, tensor<index>, tensor<index>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %24 = tg.load %23 : tensor<f32, #tg.place<global>> -> tensor<f32>
  %25 = tg.mul %21, %24 : tensor<f32>
  %26 = tg.reduce add %25 [] over %10, %11, %13 : tensor<f32> -> tensor<f32>
  %27 = tg.mul %26, %8 : tensor<f32>
  %28 = tg.add %27, %27 : tensor<f32>
  %29 = tg.index %0[%2, %4, %5, %7] : (tensor<8x14x14x64xf32, #tg.place<global>>, tensor<index>, tensor<index>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %30 = tg.store %29, %28 : tensor<f32, #tg.place<global>>, tensor<f32>
  %31 = tg.end %30 over %7, %5, %4, %2 : !tg.void
  %32 = tg.sink %31 : !tg.void
}

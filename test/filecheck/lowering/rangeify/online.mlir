// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=opencl},tg-verify{level=kernels}' | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=cpu}' | filecheck %s --check-prefix=CPU
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=opencl},tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=OPTS

// A long attention with a mask `key <= row` is one kernel without a buffer of rows x keys: a
// workgroup goes over blocks of 32 keys, of which it skips those that the mask hides.

// CHECK:     tg.kernel
// CHECK:       %[[ROWS:.*]] = tg.range 0 loop to
// CHECK:       tg.idiv
// CHECK:       tg.where
// CHECK:       %[[BLOCKS:.*]] = tg.range 1 reduce to
// CHECK:       tg.buffer 0 : tensor<[[R:[0-9]+]]x[[B:[0-9]+]]xf32, #tg.place<local>>
// CHECK:       tg.buffer {{[0-9]+}} : tensor<[[R]]x32xf32, #tg.place<local>>
// CHECK:       tg.reduce max
// CHECK:       tg.end {{.*}} over %[[BLOCKS]]
// CHECK:       tg.div
// CHECK:       tg.sink
// CHECK-NOT: tg.kernel
// CHECK-NOT: tg.buffer

// On a CPU the scores of a step lie next to each other, and so do the sums of a column. The loops over
// tiles of 8 scored steps, and over the steps of a block, end where the mask hides the rest. One
// division is for all columns.

// CPU:     tg.kernel
// CPU:       %[[BLOCKS:.*]] = tg.range 1 reduce to
// CPU:       tg.buffer 0 : tensor<64x[[R:[0-9]+]]xf32, #tg.place<local>>
// CPU:       tg.buffer {{[0-9]+}} : tensor<32x[[R]]xf32, #tg.place<local>>
// CPU:       tg.where
// CPU:       %[[TILES:.*]] = tg.where
// CPU:       tg.range {{[0-9]+}} loop to %[[TILES]]
// CPU:       tg.where {{.*}} : (tensor<i1>, tensor<f32>, tensor<f32>)
// CPU:       tg.where
// CPU:       %[[LEFT:.*]] = tg.where
// CPU:       tg.range {{[0-9]+}} reduce to %[[LEFT]]
// CPU:       tg.reduce max
// CPU:       tg.cmplt
// CPU:       tg.exp2
// CPU:       tg.where
// CPU:       %[[INVERSE:.*]] = tg.div
// CPU:       tg.mul %{{.*}}, %[[INVERSE]]
// CPU-NOT: tg.kernel

// K and V are staged, and each nest has 16 x 16 work items.
// OPTS: #tg.opt<stage 2, 1, local, pad>
// OPTS: #tg.opt<stage 3, 1, local, pad>

builtin.module {
  func.func @main() -> tensor<512x32xf32> {
    %q = tg.param 0 : tensor<512x32xf32>
    %k = tg.param 1 : tensor<2048x32xf32>
    %v = tg.param 2 : tensor<2048x32xf32>
    %0 = tg.const 1 : tensor<i32>
    %1 = tg.reshape %0 [1] : tensor<i32> -> tensor<1xi32>
    %2 = tg.expand %1 [512] : tensor<1xi32> -> tensor<512xi32>
    %3 = tg.pad %2 at [511] to [1023] fill 0 : i32 : tensor<512xi32> -> tensor<1023xi32>
    %4 = tg.reshape %3 [1, 1023] : tensor<1023xi32> -> tensor<1x1023xi32>
    %5 = tg.expand %4 [513, 1023] : tensor<1x1023xi32> -> tensor<513x1023xi32>
    %6 = tg.reshape %5 [524799] : tensor<513x1023xi32> -> tensor<524799xi32>
    %7 = tg.shrink %6 at [0] to [524288] : tensor<524799xi32> -> tensor<524288xi32>
    %8 = tg.reshape %7 [512, 1024] : tensor<524288xi32> -> tensor<512x1024xi32>
    %9 = tg.shrink %8 at [0, 0] to [512, 512] : tensor<512x1024xi32> -> tensor<512x512xi32>
    %10 = tg.reshape %9 [512, 512, 1] : tensor<512x512xi32> -> tensor<512x512x1xi32>
    %11 = tg.reshape %10 [512, 512] : tensor<512x512x1xi32> -> tensor<512x512xi32>
    %12 = tg.permute %11 [1, 0] : tensor<512x512xi32>
    %13 = tg.reduce add %12 [1] : tensor<512x512xi32> -> tensor<512x1xi32>
    %14 = tg.reshape %13 [512] : tensor<512x1xi32> -> tensor<512xi32>
    %15 = tg.const 1 : tensor<i32>
    %16 = tg.sub %14, %15 : (tensor<512xi32>, tensor<i32>) -> tensor<512xi32>
    %17 = tg.reshape %16 [512, 1] : tensor<512xi32> -> tensor<512x1xi32>
    %18 = tg.const 1 : tensor<i32>
    %19 = tg.reshape %18 [1] : tensor<i32> -> tensor<1xi32>
    %20 = tg.expand %19 [2048] : tensor<1xi32> -> tensor<2048xi32>
    %21 = tg.pad %20 at [2047] to [4095] fill 0 : i32 : tensor<2048xi32> -> tensor<4095xi32>
    %22 = tg.reshape %21 [1, 4095] : tensor<4095xi32> -> tensor<1x4095xi32>
    %23 = tg.expand %22 [2049, 4095] : tensor<1x4095xi32> -> tensor<2049x4095xi32>
    %24 = tg.reshape %23 [8390655] : tensor<2049x4095xi32> -> tensor<8390655xi32>
    %25 = tg.shrink %24 at [0] to [8388608] : tensor<8390655xi32> -> tensor<8388608xi32>
    %26 = tg.reshape %25 [2048, 4096] : tensor<8388608xi32> -> tensor<2048x4096xi32>
    %27 = tg.shrink %26 at [0, 0] to [2048, 2048] : tensor<2048x4096xi32> -> tensor<2048x2048xi32>
    %28 = tg.reshape %27 [2048, 2048, 1] : tensor<2048x2048xi32> -> tensor<2048x2048x1xi32>
    %29 = tg.reshape %28 [2048, 2048] : tensor<2048x2048x1xi32> -> tensor<2048x2048xi32>
    %30 = tg.permute %29 [1, 0] : tensor<2048x2048xi32>
    %31 = tg.reduce add %30 [1] : tensor<2048x2048xi32> -> tensor<2048x1xi32>
    %32 = tg.reshape %31 [2048] : tensor<2048x1xi32> -> tensor<2048xi32>
    %33 = tg.const 1 : tensor<i32>
    %34 = tg.sub %32, %33 : (tensor<2048xi32>, tensor<i32>) -> tensor<2048xi32>
    %35 = tg.cmplt %17, %34 : (tensor<512x1xi32>, tensor<2048xi32>) -> tensor<512x2048xi1>
    %36 = tg.not %35 : tensor<512x2048xi1>
    %37 = tg.reshape %q [512, 1, 32] : tensor<512x32xf32> -> tensor<512x1x32xf32>
    %38 = tg.permute %k [1, 0] : tensor<2048x32xf32> -> tensor<32x2048xf32>
    %39 = tg.reshape %38 [1, 32, 2048] : tensor<32x2048xf32> -> tensor<1x32x2048xf32>
    %40 = tg.permute %39 [0, 2, 1] : tensor<1x32x2048xf32> -> tensor<1x2048x32xf32>
    %41 = tg.mul %37, %40 : (tensor<512x1x32xf32>, tensor<1x2048x32xf32>) -> tensor<512x2048x32xf32>
    %42 = tg.reduce add %41 [2] : tensor<512x2048x32xf32> -> tensor<512x2048x1xf32>
    %43 = tg.reshape %42 [512, 2048] : tensor<512x2048x1xf32> -> tensor<512x2048xf32>
    %44 = tg.const 0.176776692 : tensor<f32>
    %45 = tg.mul %43, %44 : (tensor<512x2048xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %46 = tg.const -inf : tensor<f32>
    %47 = tg.where %36, %45, %46 : (tensor<512x2048xi1>, tensor<512x2048xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %48 = tg.reduce max %47 [1] : tensor<512x2048xf32> -> tensor<512x1xf32>
    %49 = tg.detach %48 : tensor<512x1xf32>
    %50 = tg.sub %47, %49 : (tensor<512x2048xf32>, tensor<512x1xf32>) -> tensor<512x2048xf32>
    %51 = tg.const 1.44269502 : tensor<f32>
    %52 = tg.mul %50, %51 : (tensor<512x2048xf32>, tensor<f32>) -> tensor<512x2048xf32>
    %53 = tg.exp2 %52 : tensor<512x2048xf32>
    %54 = tg.reduce add %53 [1] : tensor<512x2048xf32> -> tensor<512x1xf32>
    %55 = tg.div %53, %54 : (tensor<512x2048xf32>, tensor<512x1xf32>) -> tensor<512x2048xf32>
    %56 = tg.reshape %55 [512, 2048] : tensor<512x2048xf32> -> tensor<512x2048xf32>
    %57 = tg.reshape %56 [512, 1, 2048] : tensor<512x2048xf32> -> tensor<512x1x2048xf32>
    %58 = tg.reshape %v [1, 2048, 32] : tensor<2048x32xf32> -> tensor<1x2048x32xf32>
    %59 = tg.permute %58 [0, 2, 1] : tensor<1x2048x32xf32> -> tensor<1x32x2048xf32>
    %60 = tg.mul %57, %59 : (tensor<512x1x2048xf32>, tensor<1x32x2048xf32>) -> tensor<512x32x2048xf32>
    %61 = tg.reduce add %60 [2] : tensor<512x32x2048xf32> -> tensor<512x32x1xf32>
    %62 = tg.reshape %61 [512, 32] : tensor<512x32x1xf32> -> tensor<512x32xf32>
    func.return %62 : tensor<512x32xf32>
  }
}

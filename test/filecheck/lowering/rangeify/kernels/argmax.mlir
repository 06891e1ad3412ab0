// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify | filecheck %s

// The first position of the maximum: the greatest of what is left after it.

// A short row.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x1xi32> {
  %0 = tg.reduce max %x [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %1 = tg.cmpeq %x, %0 : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xi1>
  %2 = tg.cast %1 to i32 : tensor<2x4xi1> -> tensor<2x4xi32>
  %3 = tg.const 1 : tensor<i32>
  %4 = tg.reshape %3 [1] : tensor<i32> -> tensor<1xi32>
  %5 = tg.expand %4 [4] : tensor<1xi32> -> tensor<4xi32>
  %6 = tg.pad %5 at [3] to [7] : tensor<4xi32> -> tensor<7xi32>
  %7 = tg.reshape %6 [1, 7] : tensor<7xi32> -> tensor<1x7xi32>
  %8 = tg.expand %7 [5, 7] : tensor<1x7xi32> -> tensor<5x7xi32>
  %9 = tg.reshape %8 [35] : tensor<5x7xi32> -> tensor<35xi32>
  %10 = tg.shrink %9 at [0] to [32] : tensor<35xi32> -> tensor<32xi32>
  %11 = tg.reshape %10 [4, 8] : tensor<32xi32> -> tensor<4x8xi32>
  %12 = tg.shrink %11 at [0, 0] to [4, 4] : tensor<4x8xi32> -> tensor<4x4xi32>
  %13 = tg.reduce add %12 [1] : tensor<4x4xi32> -> tensor<4x1xi32>
  %14 = tg.reshape %13 [4] : tensor<4x1xi32> -> tensor<4xi32>
  %15 = tg.const 1 : tensor<i32>
  %16 = tg.sub %14, %15 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %17 = tg.const -1 : tensor<i32>
  %18 = tg.mul %16, %17 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %19 = tg.const 4 : tensor<i32>
  %20 = tg.add %18, %19 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %21 = tg.reshape %20 [1, 4] : tensor<4xi32> -> tensor<1x4xi32>
  %22 = tg.mul %2, %21 : (tensor<2x4xi32>, tensor<1x4xi32>) -> tensor<2x4xi32>
  %23 = tg.reduce max %22 [1] : tensor<2x4xi32> -> tensor<2x1xi32>
  %24 = tg.const -1 : tensor<i32>
  %25 = tg.mul %23, %24 : (tensor<2x1xi32>, tensor<i32>) -> tensor<2x1xi32>
  %26 = tg.const 4 : tensor<i32>
  %27 = tg.add %25, %26 : (tensor<2x1xi32>, tensor<i32>) -> tensor<2x1xi32>
  func.return %27 : tensor<2x1xi32>
}

// -----

// Rows of a thousand.
// CHECK-LABEL: builtin.module
// CHECK: tg.kernel @main_0
// CHECK-NOT: tg.kernel
// CHECK: func.func @main
func.func @main(%x: tensor<512x1000xf32>) -> tensor<512x1xi32> {
  %0 = tg.reduce max %x [1] : tensor<512x1000xf32> -> tensor<512x1xf32>
  %1 = tg.cmpeq %x, %0 : (tensor<512x1000xf32>, tensor<512x1xf32>) -> tensor<512x1000xi1>
  %2 = tg.cast %1 to i32 : tensor<512x1000xi1> -> tensor<512x1000xi32>
  %3 = tg.const 1 : tensor<i32>
  %4 = tg.reshape %3 [1] : tensor<i32> -> tensor<1xi32>
  %5 = tg.expand %4 [1000] : tensor<1xi32> -> tensor<1000xi32>
  %6 = tg.pad %5 at [999] to [1999] : tensor<1000xi32> -> tensor<1999xi32>
  %7 = tg.reshape %6 [1, 1999] : tensor<1999xi32> -> tensor<1x1999xi32>
  %8 = tg.expand %7 [1001, 1999] : tensor<1x1999xi32> -> tensor<1001x1999xi32>
  %9 = tg.reshape %8 [2000999] : tensor<1001x1999xi32> -> tensor<2000999xi32>
  %10 = tg.shrink %9 at [0] to [2000000] : tensor<2000999xi32> -> tensor<2000000xi32>
  %11 = tg.reshape %10 [1000, 2000] : tensor<2000000xi32> -> tensor<1000x2000xi32>
  %12 = tg.shrink %11 at [0, 0] to [1000, 1000] : tensor<1000x2000xi32> -> tensor<1000x1000xi32>
  %13 = tg.reduce add %12 [1] : tensor<1000x1000xi32> -> tensor<1000x1xi32>
  %14 = tg.reshape %13 [1000] : tensor<1000x1xi32> -> tensor<1000xi32>
  %15 = tg.const 1 : tensor<i32>
  %16 = tg.sub %14, %15 : (tensor<1000xi32>, tensor<i32>) -> tensor<1000xi32>
  %17 = tg.const -1 : tensor<i32>
  %18 = tg.mul %16, %17 : (tensor<1000xi32>, tensor<i32>) -> tensor<1000xi32>
  %19 = tg.const 1000 : tensor<i32>
  %20 = tg.add %18, %19 : (tensor<1000xi32>, tensor<i32>) -> tensor<1000xi32>
  %21 = tg.reshape %20 [1, 1000] : tensor<1000xi32> -> tensor<1x1000xi32>
  %22 = tg.mul %2, %21 : (tensor<512x1000xi32>, tensor<1x1000xi32>) -> tensor<512x1000xi32>
  %23 = tg.reduce max %22 [1] : tensor<512x1000xi32> -> tensor<512x1xi32>
  %24 = tg.const -1 : tensor<i32>
  %25 = tg.mul %23, %24 : (tensor<512x1xi32>, tensor<i32>) -> tensor<512x1xi32>
  %26 = tg.const 1000 : tensor<i32>
  %27 = tg.add %25, %26 : (tensor<512x1xi32>, tensor<i32>) -> tensor<512x1xi32>
  func.return %27 : tensor<512x1xi32>
}

// RUN: tg-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: @integers
// CHECK-DAG: tg.const -4 : tensor<i32>
// CHECK-DAG: tg.const -1 : tensor<i32>
// CHECK-DAG: tg.const 0 : tensor<i32>
// CHECK-NOT: tg.idiv
func.func @integers() -> (tensor<i32>, tensor<i32>, tensor<i32>) {
  %7 = tg.const 7 : tensor<i32>
  %m2 = tg.const -2 : tensor<i32>
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.idiv %7, %m2 : tensor<i32>
  %1 = tg.mod %7, %m2 : tensor<i32>
  %2 = tg.mod %7, %c0 : tensor<i32>
  return %0, %1, %2 : tensor<i32>, tensor<i32>, tensor<i32>
}

// CHECK-LABEL: @wrap
// CHECK-DAG: tg.const -128 : tensor<i8>
// CHECK-DAG: tg.const 44 : tensor<ui8>
// CHECK: func.return
func.func @wrap() -> (tensor<i8>, tensor<ui8>) {
  %0 = tg.const -128 : tensor<i8>
  %1 = tg.const -1 : tensor<i8>
  %2 = tg.idiv %0, %1 : tensor<i8>
  %3 = tg.const 100 : tensor<ui8>
  %4 = tg.const 200 : tensor<ui8>
  %5 = tg.add %3, %4 : tensor<ui8>
  return %2, %5 : tensor<i8>, tensor<ui8>
}

// CHECK-LABEL: @floats
// CHECK: tg.const 3.000000e-01 : tensor<f32>
// CHECK-NEXT: tg.const inf : tensor<f32>
// CHECK-NEXT: tg.const nan : tensor<f32>
// CHECK-NEXT: tg.const 127 : tensor<i8>
// CHECK-NEXT: tg.const 8.000000e+00 : tensor<f32>
// CHECK-NEXT: func.return
func.func @floats() -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<i8>, tensor<f32>) {
  %a = tg.const 0.1 : tensor<f32>
  %b = tg.const 0.2 : tensor<f32>
  %z = tg.const 0.0 : tensor<f32>
  %n = tg.const nan : tensor<f32>
  %3 = tg.const 3.0 : tensor<f32>
  %big = tg.const 1.0e+9 : tensor<f32>
  %0 = tg.add %a, %b : tensor<f32>
  %1 = tg.recip %z : tensor<f32>
  %2 = tg.max %n, %b : tensor<f32>
  %4 = tg.cast %big to i8 : tensor<f32> -> tensor<i8>
  %5 = tg.exp2 %3 : tensor<f32>
  return %0, %1, %2, %4, %5 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i8>, tensor<f32>
}

// A transcendental op is folded only where its result is exact.
// CHECK-LABEL: @inexact
// CHECK: tg.sin
// CHECK: tg.sqrt
func.func @inexact() -> (tensor<f32>, tensor<f32>) {
  %2 = tg.const 2.0 : tensor<f32>
  %0 = tg.sin %2 : tensor<f32>
  %1 = tg.sqrt %2 : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// WHERE looks only at the branch it takes; any other op on an invalid cell is invalid.
// CHECK-LABEL: @invalid
// CHECK-NEXT: tg.const 1.000000e+00 : tensor<f32>
// CHECK-NEXT: tg.const invalid : tensor<f32>
// CHECK-NEXT: func.return
func.func @invalid() -> (tensor<f32>, tensor<f32>) {
  %true = tg.const true : tensor<i1>
  %1 = tg.const 1.0 : tensor<f32>
  %i = tg.const invalid : tensor<f32>
  %0 = tg.where %true, %1, %i : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = tg.add %1, %i : tensor<f32>
  return %0, %2 : tensor<f32>, tensor<f32>
}

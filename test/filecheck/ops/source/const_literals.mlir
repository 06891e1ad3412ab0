// RUN: tg-opt %s | filecheck %s

// Floats round to the dtype; a hexadecimal number for a float is its bits; `true` is an i1.

func.func @literals() {
  // CHECK: tg.const 1.000000e+00 : tensor<f32>
  %0 = tg.const 1 : tensor<f32>
  // CHECK: tg.const 0.333333343 : tensor<f32>
  %1 = tg.const 0.33333333333 : tensor<f32>
  // CHECK: tg.const 1.015620e-01 : tensor<f8E4M3FN>
  %2 = tg.const 0.1 : tensor<f8E4M3FN>
  // CHECK: tg.const 1.500000e+00 : tensor<f32>
  %3 = tg.const 0x3FC00000 : tensor<f32>
  // CHECK: tg.const inf : tensor<f16>
  %4 = tg.const 0x7C00 : tensor<f16>
  // CHECK: tg.const nan : tensor<f8E4M3FN>
  %5 = tg.const 0x7F : tensor<f8E4M3FN>
  // CHECK: tg.const -2.000000e+00 : tensor<f64>
  %6 = tg.const 0xC000000000000000 : tensor<f64>
  // CHECK: tg.const 255 : tensor<i32>
  %7 = tg.const 0xff : tensor<i32>
  // CHECK: tg.const true : tensor<i1>
  %8 = tg.const 1 : tensor<i1>
  // CHECK: tg.const 3 : tensor<i8>
  %9 = tg.const 3.0 : tensor<i8>
  // A NaN with a sign or a payload is its bits.
  // CHECK: tg.const 0xffc00000 : tensor<f32>
  %11 = tg.const -nan : tensor<f32>
  // CHECK: tg.const 0x7fc00001 : tensor<f32>
  %12 = tg.const 0x7fc00001 : tensor<f32>
  // CHECK: tg.const nan : tensor<f32>
  %13 = tg.const 0x7fc00000 : tensor<f32>
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @integers() {
  // CHECK: %bool = tg.const true : tensor<i1>
  // GENERIC: %bool = "tg.const"() <{value = true}> : () -> tensor<i1>
  %bool = tg.const true : tensor<i1>
  // CHECK: %no = tg.const false : tensor<i1>
  // GENERIC: %no = "tg.const"() <{value = false}> : () -> tensor<i1>
  %no = tg.const false : tensor<i1>
  // CHECK: %i8 = tg.const -128 : tensor<i8>
  // GENERIC: %i8 = "tg.const"() <{value = -128 : i8}> : () -> tensor<i8>
  %i8 = tg.const -128 : tensor<i8>
  // CHECK: %i16 = tg.const 32767 : tensor<i16>
  // GENERIC: %i16 = "tg.const"() <{value = 32767 : i16}> : () -> tensor<i16>
  %i16 = tg.const 32767 : tensor<i16>
  // CHECK: %i32 = tg.const -2147483648 : tensor<i32>
  // GENERIC: %i32 = "tg.const"() <{value = -2147483648 : i32}> : () -> tensor<i32>
  %i32 = tg.const -2147483648 : tensor<i32>
  // CHECK: %i64 = tg.const 9223372036854775807 : tensor<i64>
  // GENERIC: %i64 = "tg.const"() <{value = 9223372036854775807 : i64}> : () -> tensor<i64>
  %i64 = tg.const 9223372036854775807 : tensor<i64>
  // CHECK: %u8 = tg.const 255 : tensor<ui8>
  // GENERIC: %u8 = "tg.const"() <{value = 255 : ui8}> : () -> tensor<ui8>
  %u8 = tg.const 255 : tensor<ui8>
  // CHECK: %u16 = tg.const 65535 : tensor<ui16>
  // GENERIC: %u16 = "tg.const"() <{value = 65535 : ui16}> : () -> tensor<ui16>
  %u16 = tg.const 65535 : tensor<ui16>
  // CHECK: %u32 = tg.const 4294967295 : tensor<ui32>
  // GENERIC: %u32 = "tg.const"() <{value = 4294967295 : ui32}> : () -> tensor<ui32>
  %u32 = tg.const 4294967295 : tensor<ui32>
  // CHECK: %u64 = tg.const 18446744073709551615 : tensor<ui64>
  // GENERIC: %u64 = "tg.const"() <{value = 18446744073709551615 : ui64}> : () -> tensor<ui64>
  %u64 = tg.const 18446744073709551615 : tensor<ui64>
  // CHECK: %idx = tg.const -9223372036854775808 : tensor<index>
  // GENERIC: %idx = "tg.const"() <{value = -9223372036854775808 : index}> : () -> tensor<index>
  %idx = tg.const -9223372036854775808 : tensor<index>
  func.return
}

func.func @floats() {
  // CHECK: %f32 = tg.const 1.500000e+00 : tensor<f32>
  // GENERIC: %f32 = "tg.const"() <{value = 1.500000e+00 : f32}> : () -> tensor<f32>
  %f32 = tg.const 1.500000e+00 : tensor<f32>
  // CHECK: %f64 = tg.const 0.12345678901234568 : tensor<f64>
  // GENERIC: %f64 = "tg.const"() <{value = 0.12345678901234568 : f64}> : () -> tensor<f64>
  %f64 = tg.const 0.12345678901234568 : tensor<f64>
  // CHECK: %f16 = tg.const 9.997560e-02 : tensor<f16>
  // GENERIC: %f16 = "tg.const"() <{value = 9.997560e-02 : f16}> : () -> tensor<f16>
  %f16 = tg.const 9.997560e-02 : tensor<f16>
  // CHECK: %bf16 = tg.const 1.000980e-01 : tensor<bf16>
  // GENERIC: %bf16 = "tg.const"() <{value = 1.000980e-01 : bf16}> : () -> tensor<bf16>
  %bf16 = tg.const 1.000980e-01 : tensor<bf16>
  // CHECK: %e4m3 = tg.const 4.480000e+02 : tensor<f8E4M3FN>
  // GENERIC: %e4m3 = "tg.const"() <{value = 4.480000e+02 : f8E4M3FN}> : () -> tensor<f8E4M3FN>
  %e4m3 = tg.const 4.480000e+02 : tensor<f8E4M3FN>
  // CHECK: %e5m2 = tg.const 5.734400e+04 : tensor<f8E5M2>
  // GENERIC: %e5m2 = "tg.const"() <{value = 5.734400e+04 : f8E5M2}> : () -> tensor<f8E5M2>
  %e5m2 = tg.const 5.734400e+04 : tensor<f8E5M2>
  // CHECK: %zero = tg.const -0.000000e+00 : tensor<f32>
  // GENERIC: %zero = "tg.const"() <{value = -0.000000e+00 : f32}> : () -> tensor<f32>
  %zero = tg.const -0.000000e+00 : tensor<f32>
  // CHECK: %tiny = tg.const 1.401300e-45 : tensor<f32>
  // GENERIC: %tiny = "tg.const"() <{value = 1.401300e-45 : f32}> : () -> tensor<f32>
  %tiny = tg.const 1.401300e-45 : tensor<f32>
  // CHECK: %huge = tg.const 3.40282347e+38 : tensor<f32>
  // GENERIC: %huge = "tg.const"() <{value = 3.40282347e+38 : f32}> : () -> tensor<f32>
  %huge = tg.const 3.40282347e+38 : tensor<f32>
  // CHECK: %exact = tg.const 0x4CEB79A3 : tensor<f32>
  // GENERIC: %exact = "tg.const"() <{value = 0x4CEB79A3 : f32}> : () -> tensor<f32>
  %exact = tg.const 0x4CEB79A3 : tensor<f32>
  func.return
}

func.func @special() {
  // CHECK: %nan = tg.const nan : tensor<f32>
  // GENERIC: %nan = "tg.const"() <{value = 0x7fc00000 : f32}> : () -> tensor<f32>
  %nan = tg.const nan : tensor<f32>
  // CHECK: %inf = tg.const inf : tensor<f64>
  // GENERIC: %inf = "tg.const"() <{value = 0x7ff0000000000000 : f64}> : () -> tensor<f64>
  %inf = tg.const inf : tensor<f64>
  // CHECK: %minus = tg.const -inf : tensor<bf16>
  // GENERIC: %minus = "tg.const"() <{value = 0xff80 : bf16}> : () -> tensor<bf16>
  %minus = tg.const -inf : tensor<bf16>
  // CHECK: %nan8 = tg.const nan : tensor<f8E4M3FN>
  // GENERIC: %nan8 = "tg.const"() <{value = 0x7f : f8E4M3FN}> : () -> tensor<f8E4M3FN>
  %nan8 = tg.const nan : tensor<f8E4M3FN>
  // CHECK: %inf8 = tg.const inf : tensor<f8E5M2>
  // GENERIC: %inf8 = "tg.const"() <{value = 0x7c : f8E5M2}> : () -> tensor<f8E5M2>
  %inf8 = tg.const inf : tensor<f8E5M2>
  // CHECK: %none = tg.const invalid : tensor<f32>
  // GENERIC: %none = "tg.const"() <{value = #tg.invalid<f32>}> : () -> tensor<f32>
  %none = tg.const invalid : tensor<f32>
  // CHECK: %no_index = tg.const invalid : tensor<index>
  // GENERIC: %no_index = "tg.const"() <{value = #tg.invalid<index>}> : () -> tensor<index>
  %no_index = tg.const invalid : tensor<index>
  func.return
}

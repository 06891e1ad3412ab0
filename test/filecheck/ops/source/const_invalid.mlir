// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{128 is not representable in i8}}
  %0 = tg.const 128 : tensor<i8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{-129 is not representable in i8}}
  %0 = tg.const -129 : tensor<i8>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{-1 is not representable in ui32}}
  %0 = tg.const -1 : tensor<ui32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{18446744073709551616 is not representable in ui64}}
  %0 = tg.const 18446744073709551616 : tensor<ui64>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{9223372036854775808 is not representable in index}}
  %0 = tg.const 9223372036854775808 : tensor<index>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{2 is not representable in i1}}
  %0 = tg.const 2 : tensor<i1>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{1.5 is not representable in i32}}
  %0 = tg.const 1.5 : tensor<i32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{nan is not representable in i32}}
  %0 = tg.const nan : tensor<i32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{-inf is not representable in i64}}
  %0 = tg.const -inf : tensor<i64>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{inf is not representable in f8E4M3FN}}
  %0 = tg.const inf : tensor<f8E4M3FN>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{500.0 is not representable in f8E4M3FN}}
  %0 = tg.const 500.0 : tensor<f8E4M3FN>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{1e+39 is not representable in f32}}
  %0 = tg.const 1.0e39 : tensor<f32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{70000 is not representable in f16}}
  %0 = tg.const 70000 : tensor<f16>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{0x1ffffffff has more than the 32 bits of f32}}
  %0 = tg.const 0x1FFFFFFFF : tensor<f32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{true is not representable in f32}}
  %0 = tg.const true : tensor<f32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{i7 is not a dtype}}
  %0 = tg.const 1 : tensor<i7>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{f80 is not a dtype}}
  %0 = tg.const invalid : tensor<f80>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{integer or float literal expected, nan, inf or invalid}}
  %0 = tg.const one : tensor<f32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the result type is written as tensor<4xf32>, but the op gives tensor<f32>}}
  %0 = tg.const 1.0 : tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the result type is written as tensor<f32, #tg.place<"CPU">>, but the op gives tensor<f32>}}
  %0 = tg.const 1.0 : tensor<f32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the result type is written as tensor<f32>, but the op gives tensor<f64>}}
  %0 = "tg.const"() <{value = 1.0 : f64}> : () -> tensor<f32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{"one" is not a number}}
  %0 = "tg.const"() <{value = "one"}> : () -> tensor<f32>
  func.return
}

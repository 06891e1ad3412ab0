// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<8xf32>, %b: tensor<4xf16>, %c: tensor<4xf32>) {
  // expected-error@below {{a thread holds 8 elements of f16 of A, not tensor<8xf32>}}
  %0 = tg_legacy.wmma %a, %b, %c config <"W", [8, 16, 16], f16, f32, "CUDA", 32, [[[0, 8]], [[0, 4]], [[0, 4]]], [3]> : (tensor<8xf32>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf16>, %b: tensor<8xf16>, %c: tensor<4xf32>) {
  // expected-error@below {{a thread holds 4 elements of f16 of B, not tensor<8xf16>}}
  %0 = tg_legacy.wmma %a, %b, %c config <"W", [8, 16, 16], f16, f32, "CUDA", 32, [[[0, 8]], [[0, 4]], [[0, 4]]], [3]> : (tensor<8xf16>, tensor<8xf16>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf16>, %b: tensor<4xf16>, %c: tensor<4xf16>) {
  // expected-error@below {{a thread holds 4 elements of f32 of the accumulator, not tensor<4xf16>}}
  %0 = tg_legacy.wmma %a, %b, %c config <"W", [8, 16, 16], f16, f32, "CUDA", 32, [[[0, 8]], [[0, 4]], [[0, 4]]], [3]> : (tensor<8xf16>, tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  func.return
}

// -----

func.func @f(%a: tensor<8xf16>, %b: tensor<4xf16>, %c: tensor<4xf32>) {
  // expected-error@below {{the result type is written as tensor<4xf16>, but the op gives tensor<4xf32>}}
  %0 = tg_legacy.wmma %a, %b, %c config <"W", [8, 16, 16], f16, f32, "CUDA", 32, [[[0, 8]], [[0, 4]], [[0, 4]]], [3]> : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf16>
  func.return
}

// -----

func.func @f(%a: tensor<8xi32>, %b: tensor<4xi32>, %c: tensor<4xf32>) {
  // expected-error@below {{i32 does not accumulate in f32}}
  %0 = tg_legacy.wmma %a, %b, %c config <"W", [8, 16, 16], i32, f32, "CUDA", 32, [[[0, 8]], [[0, 4]], [[0, 4]]], [3]> : (tensor<8xi32>, tensor<4xi32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

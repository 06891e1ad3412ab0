// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@below {{A of this wmma has shape 8x16: tensor<16x16xf16>}}
  %0 = tg.wmma %a, %b, %c config <8x8x16> : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@below {{B of this wmma has shape 16x4: tensor<16x8xf16>}}
  %0 = tg.wmma %a, %b, %c config <16x4x16> : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<8x16xf32>) {
  // expected-error@below {{the accumulator of this wmma has shape 16x8: tensor<8x16xf32>}}
  %0 = tg.wmma %a, %b, %c config <16x8x16> : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<8x16xf32>) -> tensor<8x16xf32>
  func.return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %b: tensor<16x8xbf16>, %c: tensor<16x8xf32>) {
  // expected-error@below {{A is f16, B is bf16}}
  %0 = tg.wmma %a, %b, %c config <16x8x16> : (tensor<16x16xf16>, tensor<16x8xbf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xi32>) {
  // expected-error@below {{f16 does not accumulate in i32}}
  %0 = tg.wmma %a, %b, %c config <16x8x16> : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xi32>) -> tensor<16x8xi32>
  func.return
}

// -----

func.func @f(%a: tensor<16x16xf32>, %b: tensor<16x8xf32>, %c: tensor<16x8xf16>) {
  // expected-error@below {{f32 does not accumulate in f16}}
  %0 = tg.wmma %a, %b, %c config <16x8x16> : (tensor<16x16xf32>, tensor<16x8xf32>, tensor<16x8xf16>) -> tensor<16x8xf16>
  func.return
}

// -----

func.func @f(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@below {{the result type is written as tensor<16x8xf16>, but the op gives tensor<16x8xf32>}}
  %0 = tg.wmma %a, %b, %c config <16x8x16> : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf16>
  func.return
}

// -----

func.func @axis(%a: tensor<16x16xf16, #tg.place<["A", "B"], axis = 0>>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@below {{an operand of tg.wmma may not be sharded}}
  %0 = tg.wmma %a, %b, %c config <16x8x16> : (tensor<16x16xf16, #tg.place<["A", "B"], axis = 0>>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32, #tg.place<["A", "B"]>>
  func.return
}

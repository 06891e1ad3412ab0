// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<f32>, %y: tensor<f16>) {
  // expected-error@below {{operands have different dtypes: f32 and f16}}
  %0 = tg_legacy.vectorize %x, %y : (tensor<f32>, tensor<f16>) -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error@below {{VECTORIZE takes scalars, not tensor<2xf32>}}
  %0 = tg_legacy.vectorize %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32, #tg.place<global>>) {
  // expected-error@below {{tg_legacy.vectorize takes values, not memory: tensor<f32, #tg.place<global>>}}
  %0 = tg_legacy.vectorize %x, %x : (tensor<f32, #tg.place<global>>, tensor<f32, #tg.place<global>>) -> tensor<2xf32>
  func.return
}

// -----

// expected-error@below {{tg_legacy.vectorize has at least one source}}
%0 = "tg_legacy.vectorize"() : () -> tensor<0xf32>

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{the result type is written as tensor<3xf32>, but the op gives tensor<2xf32>}}
  %0 = tg_legacy.vectorize %x, %x : (tensor<f32>, tensor<f32>) -> tensor<3xf32>
  func.return
}

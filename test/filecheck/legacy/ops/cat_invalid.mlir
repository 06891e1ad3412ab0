// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error@below {{operands have different dtypes: f32 and i32}}
  %0 = tg_legacy.cat %x, %y : (tensor<2xf32>, tensor<2xi32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error@below {{CAT joins vectors, not tensor<f32>}}
  %0 = tg_legacy.cat %x, %y : (tensor<2xf32>, tensor<f32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x2xf32>) {
  // expected-error@below {{CAT joins vectors, not tensor<2x2xf32>}}
  %0 = tg_legacy.cat %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error@below {{CAT joins vectors, not tensor<?xf32>}}
  %0 = tg_legacy.cat %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2xf32, #tg.place<global>>) {
  // expected-error@below {{tg_legacy.cat takes values, not memory: tensor<2xf32, #tg.place<global>>}}
  %0 = tg_legacy.cat %x, %x : (tensor<2xf32, #tg.place<global>>, tensor<2xf32, #tg.place<global>>) -> tensor<4xf32>
  func.return
}

// -----

// expected-error@below {{tg_legacy.cat has at least one source}}
%0 = "tg_legacy.cat"() : () -> tensor<0xf32>

// -----

func.func @f(%x: tensor<2xf32>) {
  // expected-error@below {{the result type is written as tensor<3xf32>, but the op gives tensor<4xf32>}}
  %0 = tg_legacy.cat %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  func.return
}

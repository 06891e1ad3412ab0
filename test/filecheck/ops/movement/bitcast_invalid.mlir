// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<3xf16>) {
  // expected-error@below {{bitcast of 3 x 2 bytes is no multiple of 4 bytes}}
  %0 = tg.bitcast %x to f32 : tensor<3xf16> -> tensor<1xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@below {{bitcast from 4 to 1 bytes needs an axis to scale}}
  %0 = tg.bitcast %x to ui8 : tensor<f32> -> tensor<4xui8>
  func.return
}

// -----

func.func @f(%x: tensor<4x?xf32>) {
  // expected-error@below {{bitcast to another size needs a static last axis}}
  %0 = tg.bitcast %x to ui8 : tensor<4x?xf32> -> tensor<4x?xui8>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{i4 is not a dtype}}
  %0 = tg.bitcast %x to i4 : tensor<4xf32> -> tensor<32xi4>
  func.return
}

// -----

func.func @f(%x: tensor<2xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{bitcast of the sharding axis 0 moves the shard boundaries}}
  %0 = tg.bitcast %x to f64 : tensor<2xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1xf64, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{the result type is written as tensor<8xi16>, but the op gives tensor<16xi8>}}
  %0 = tg.bitcast %x to i8 : tensor<4xf32> -> tensor<8xi16>
  func.return
}

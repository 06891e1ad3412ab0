// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: tensor<24xf32>, %i: tensor<i32>, %x: tensor<f32>) {
  // expected-error@below {{expected memory on one device, got tensor<24xf32>}}
  %0 = tg_legacy.store %m at %i value %x : tensor<24xf32> at tensor<i32> value tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>, %x: tensor<f64>) {
  // expected-error@below {{the memory holds f32, the value is f64}}
  %0 = tg_legacy.store %m at %i value %x : tensor<24xf32, #tg.place<global>> at tensor<i32> value tensor<f64>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<3xi32>, %x: tensor<f32>) {
  // expected-error@below {{the value has shape (), not 3}}
  %0 = tg_legacy.store %m at %i value %x : tensor<24xf32, #tg.place<global>> at tensor<3xi32> value tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i1>, %x: tensor<f32>) {
  // expected-error@below {{a position is an integer, not tensor<i1>}}
  %0 = tg_legacy.store %m at %i value %x : tensor<24xf32, #tg.place<global>> at tensor<i1> value tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<4x6xf32, #tg.place<global>>, %i: tensor<i32>, %x: tensor<f32>) {
  // expected-error@below {{a position is in memory of one axis, not in tensor<4x6xf32, #tg.place<global>>}}
  %0 = tg_legacy.store %m at %i value %x : tensor<4x6xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>, %x: tensor<f32>, %g: tensor<4xi1>) {
  // expected-error@below {{a condition is bool, of shape (), not tensor<4xi1>}}
  %0 = tg_legacy.store %m at %i value %x gate %g : tensor<24xf32, #tg.place<global>> at tensor<i32> value tensor<f32> gate tensor<4xi1>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"A", global>>, %x: tensor<4xf32, #tg.place<"B">>) {
  // expected-error@below {{operands are on different devices: A and B}}
  %0 = tg_legacy.store %m value %x : tensor<4xf32, #tg.place<"A", global>> value tensor<4xf32, #tg.place<"B">>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %x: tensor<6xf32>) {
  %v = tg_legacy.view [#tg_legacy.view<[6], offset = 20>] : !tg.void
  // expected-error@below {{the view has positions 20 to 25 of 24}}
  %0 = tg_legacy.store %m at %v value %x : tensor<24xf32, #tg.place<global>> at !tg.void value tensor<6xf32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %x: tensor<4x6xf32>) {
  %v = tg_legacy.view [#tg_legacy.view<[4, 6], strides = [1, 0]>] : !tg.void
  // expected-error@below {{#tg_legacy.view<[4, 6], strides = [1, 0]> repeats positions: a STORE writes each once}}
  %0 = tg_legacy.store %m at %v value %x : tensor<24xf32, #tg.place<global>> at !tg.void value tensor<4x6xf32>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<global>>, %x: tensor<2x4xf32>) {
  %v = tg_legacy.view %m [#tg_legacy.view<[2, 4], strides = [0, 1]>] : tensor<4xf32, #tg.place<global>> -> tensor<2x4xf32, #tg.place<global>>
  // expected-error@below {{#tg_legacy.view<[2, 4], strides = [0, 1]> repeats positions: a STORE writes each once}}
  %0 = tg_legacy.store %v value %x : tensor<2x4xf32, #tg.place<global>> value tensor<2x4xf32>
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<24xf32>, %i: tensor<i32>) {
  // expected-error@below {{expected memory on one device, got tensor<24xf32>}}
  %0 = tg_legacy.load %x at %i : tensor<24xf32> at tensor<i32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<["A", "B"], global, axis = 0>>) {
  // expected-error@below {{expected memory on one device, got tensor<4xf32, #tg.place<["A", "B"], global, axis = 0>>}}
  %0 = tg_legacy.load %m : tensor<4xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>) {
  // expected-error@below {{the memory holds f32, the value is i32}}
  %0 = tg_legacy.load %m at %i : tensor<24xf32, #tg.place<global>> at tensor<i32> -> tensor<i32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<f32>) {
  // expected-error@below {{a position is an integer, not tensor<f32>}}
  %0 = tg_legacy.load %m at %i : tensor<24xf32, #tg.place<global>> at tensor<f32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>) {
  %u = tg_legacy.unique 0
  // expected-error@below {{a position is an integer, not !tg.void}}
  %0 = tg_legacy.load %m at %u : tensor<24xf32, #tg.place<global>> at !tg.void -> tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<f32, #tg.place<global>>, %i: tensor<i32>) {
  // expected-error@below {{a position is in memory of one axis, not in tensor<f32, #tg.place<global>>}}
  %0 = tg_legacy.load %m at %i : tensor<f32, #tg.place<global>> at tensor<i32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<4xi32>) {
  // expected-error@below {{the value has shape 2, not 4}}
  %0 = tg_legacy.load %m at %i : tensor<24xf32, #tg.place<global>> at tensor<4xi32> -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>) {
  // expected-error@below {{the value has shape 2x2, not ()}}
  %0 = tg_legacy.load %m at %i : tensor<24xf32, #tg.place<global>> at tensor<i32> -> tensor<2x2xf32>
  func.return
}

// -----

func.func @f(%m: tensor<f32, #tg.place<global>>) {
  // expected-error@below {{the value has shape 4, not ()}}
  %0 = tg_legacy.load %m : tensor<f32, #tg.place<global>> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<global>>) {
  // expected-error@below {{the LOAD gives tensor<4xf32>, not tensor<4xf32, #tg.place<global>>}}
  %0 = tg_legacy.load %m : tensor<4xf32, #tg.place<global>>  -> tensor<4xf32, #tg.place<global>>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"A", global>>) {
  // expected-error@below {{the LOAD gives tensor<4xf32, #tg.place<"A">>, not tensor<4xf32, #tg.place<"B">>}}
  %0 = tg_legacy.load %m : tensor<4xf32, #tg.place<"A", global>> -> tensor<4xf32, #tg.place<"B">>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>) {
  %v = tg_legacy.view [#tg_legacy.view<[5, 5]>] : !tg.void
  // expected-error@below {{the view has positions 0 to 24 of 24}}
  %0 = tg_legacy.load %m at %v : tensor<24xf32, #tg.place<global>> at !tg.void -> tensor<5x5xf32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>) {
  %v = tg_legacy.view [#tg_legacy.view<[4, 6]>] : !tg.void
  // expected-error@below {{the value has shape 6x4, not 4x6}}
  %0 = tg_legacy.load %m at %v : tensor<24xf32, #tg.place<global>> at !tg.void -> tensor<6x4xf32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>) {
  %d = tg_legacy.device "CPU"
  %v = tg_legacy.view %d [#tg_legacy.view<[4], strides = [0]>] : !tg.void
  // expected-error@below {{the VIEW beside a buffer has no source, got tg_legacy.device}}
  %0 = tg_legacy.load %m at %v : tensor<24xf32, #tg.place<global>> at !tg.void -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>, %a: tensor<f16>, %g: tensor<i1>) {
  // expected-error@below {{the alternative is tensor<f16>, the value tensor<f32>}}
  %0 = tg_legacy.load %m at %i alt %a gate %g : tensor<24xf32, #tg.place<global>> at tensor<i32> alt tensor<f16> gate tensor<i1> -> tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>, %a: tensor<f32>, %g: tensor<i32>) {
  // expected-error@below {{a condition is bool, of shape (), not tensor<i32>}}
  %0 = tg_legacy.load %m at %i alt %a gate %g : tensor<24xf32, #tg.place<global>> at tensor<i32> alt tensor<f32> gate tensor<i32> -> tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<24xf32, #tg.place<global>>, %i: tensor<i32>, %a: tensor<4xf32>, %g: tensor<2xi1>) {
  // expected-error@below {{a condition is bool, of shape () or 4, not tensor<2xi1>}}
  %0 = tg_legacy.load %m at %i alt %a gate %g : tensor<24xf32, #tg.place<global>> at tensor<i32> alt tensor<4xf32> gate tensor<2xi1> -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"A", global>>, %i: tensor<i32, #tg.place<"B">>) {
  // expected-error@below {{operands are on different devices: A and B}}
  %0 = tg_legacy.load %m at %i : tensor<4xf32, #tg.place<"A", global>> at tensor<i32, #tg.place<"B">> -> tensor<f32, #tg.place<"A">>
  func.return
}

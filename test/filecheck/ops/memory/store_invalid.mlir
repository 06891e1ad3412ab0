// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: tensor<4xf32>) {
  // expected-error@below {{STORE writes memory, not tensor<4xf32>}}
  %0 = tg.store %m, %m : tensor<4xf32>, tensor<4xf32>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<f32>) {
  // expected-error@below {{the buffer has shape 4, the value ()}}
  %0 = tg.store %m, %v : tensor<4xf32, #tg.place<"CPU", global>>, tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<4xf16>) {
  // expected-error@below {{the buffer holds f32, the value is f16}}
  %0 = tg.store %m, %v : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf16>
  func.return
}

// -----

func.func @f() {
  %n = tg.param 0 : tensor<index>
  %m = tg.param 1 : tensor<index>
  %b = tg.param 2 (%n) : tensor<?xf32, #tg.place<"CPU", global>>
  %v = tg.param 3 (%m) : tensor<?xf32>
  // expected-error@below {{the buffer has shape %n, the value %m}}
  %0 = tg.store %b, %v : tensor<?xf32, #tg.place<"CPU", global>>, tensor<?xf32>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<4xf32>, %g: tensor<4xui8>) {
  // expected-error@below {{a gate is bool, () or of the buffer's shape, not tensor<4xui8>}}
  %0 = tg.store %m, %v gate %g : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>, tensor<4xui8>
  func.return
}

// -----

func.func @f(%m: tensor<1xf32, #tg.place<"CPU", global>>, %v: tensor<4xf32>) {
  %e = tg.expand %m [4] : tensor<1xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", global>>
  // expected-error@below {{the buffer is an EXPAND, which shows one cell of memory many times}}
  %0 = tg.store %e, %v : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  func.return
}

// -----

func.func @f(%m: tensor<1x2xf32, #tg.place<"CPU", global>>, %v: tensor<8xf32>) {
  %e = tg.expand %m [4, 2] : tensor<1x2xf32, #tg.place<"CPU", global>> -> tensor<4x2xf32, #tg.place<"CPU", global>>
  %r = tg.reshape %e [8] : tensor<4x2xf32, #tg.place<"CPU", global>> -> tensor<8xf32, #tg.place<"CPU", global>>
  // expected-error@below {{the buffer is an EXPAND, which shows one cell of memory many times}}
  %0 = tg.store %r, %v : tensor<8xf32, #tg.place<"CPU", global>>, tensor<8xf32>
  func.return
}

// -----

func.func @f(%m: i32) {
  // expected-error@below {{expected a tensor, got i32}}
  %0 = tg.store %m, %m : i32, i32
  func.return
}

// -----

func.func @f(%m: tensor<4xi4, #tg.place<"CPU", global>>) {
  // expected-error@below {{i4 is not a dtype}}
  %0 = tg.store %m, %m : tensor<4xi4, #tg.place<"CPU", global>>, tensor<4xi4, #tg.place<"CPU", global>>
  func.return
}

// -----

// What is written and the gate are where the buffer is, and sharded as it is.
func.func @device(%b: tensor<4xf32, #tg.place<"A", global>>, %v: tensor<4xf32, #tg.place<"B">>) {
  // expected-error@below {{operands are on different devices: A and B}}
  %s = tg.store %b, %v : tensor<4xf32, #tg.place<"A", global>>, tensor<4xf32, #tg.place<"B">>
  func.return
}

// -----

func.func @gate(%b: tensor<4xf32, #tg.place<"A", global>>, %v: tensor<4xf32>, %g: tensor<i1, #tg.place<"B">>) {
  // expected-error@below {{operands are on different devices: A and B}}
  %s = tg.store %b, %v gate %g : tensor<4xf32, #tg.place<"A", global>>, tensor<4xf32>, tensor<i1, #tg.place<"B">>
  func.return
}

// -----

func.func @axis(%b: tensor<4x4xf32, #tg.place<["A", "B"], global, axis = 0>>, %v: tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{operands are sharded on different axes: 0 and 1}}
  %s = tg.store %b, %v : tensor<4x4xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{slot -2 is negative}}
  %0 = tg.buffer -2 : tensor<f32, #tg.place<reg>>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{a buffer needs an address space: global, local or reg}}
  %0 = tg.buffer 0 : tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{a buffer needs an address space: global, local or reg}}
  %0 = tg.buffer 0 : tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{a global buffer needs a device}}
  %0 = tg.buffer 0 : tensor<4xf32, #tg.place<global>>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{a buffer on 2 devices is sharded on axis 0}}
  %0 = tg.buffer 0 : tensor<4x4xf32, #tg.place<["A", "B"], global, axis = 1>>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{a buffer on 2 devices is sharded on axis 0}}
  %0 = tg.buffer 0 : tensor<4x4xf32, #tg.place<["A", "B"], global>>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{axis 0 of shape 5x4 does not split into 2 equal shards}}
  %0 = tg.buffer 0 : tensor<5x4xf32, #tg.place<["A", "B"], global, axis = 0>>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the sharding axis 0 is not an axis of shape ()}}
  %0 = tg.buffer 0 : tensor<f32, #tg.place<["A", "B"], global, axis = 0>>
  func.return
}

// -----

func.func @f(%n: tensor<index>) {
  // expected-error@below {{axis 0 of shape ?x4 does not split into 2 equal shards}}
  %0 = tg.buffer 0 (%n) : tensor<?x4xf32, #tg.place<["A", "B"], global, axis = 0>>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{slot 0 is tensor<4xf32, #tg.place<"CPU", global>> and tensor<5xf32, #tg.place<"CPU", global>>}}
  %0 = tg.buffer 0 : tensor<4xf32, #tg.place<"CPU", global>>
  %1 = tg.buffer 0 : tensor<5xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%n: tensor<index>) {
  // expected-error@below {{2 dynamic dimensions but 1 index values}}
  %0 = tg.buffer 0 (%n) : tensor<?x?xf32, #tg.place<"CPU", global>>
  func.return
}

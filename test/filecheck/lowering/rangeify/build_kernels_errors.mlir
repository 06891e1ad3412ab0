// RUN: tg-opt %s --split-input-file --verify-diagnostics -p tg-build-kernels

// Plans that do not fit the ops that state them.

func.func @order(%x: tensor<4x8xf32, #tg.place<"CPU", global>>, %o: tensor<4x8xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.load %x : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU">>
  // expected-error @+1 {{tg.axis_order does not fit this op}}
  %m = tg.mul %a, %a {tg.axis_order = array<i64: 0, 0>} : tensor<4x8xf32, #tg.place<"CPU">>
  %s = tg.store %o, %m : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

// -----

func.func @short(%x: tensor<4x8xf32, #tg.place<"CPU", global>>, %o: tensor<4x8xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.load %x : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU">>
  // expected-error @+1 {{tg.loop_order does not fit this op}}
  %m = tg.mul %a, %a {tg.loop_order = array<i64: 0>} : tensor<4x8xf32, #tg.place<"CPU">>
  %s = tg.store %o, %m : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

// -----

func.func @axis(%x: tensor<4x8xf32, #tg.place<"CPU", global>>, %o: tensor<4x8xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.load %x : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU">>
  // expected-error @+1 {{tg.local_axes does not fit this op}}
  %m = tg.mul %a, %a {tg.local_axes = array<i64: 2>} : tensor<4x8xf32, #tg.place<"CPU">>
  %s = tg.store %o, %m : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

// -----

func.func @split(%x: tensor<4x8xf32, #tg.place<"CPU", global>>, %o: tensor<4x8xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.load %x : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU">>
  // expected-error @+1 {{tg.loop_splits does not fit this op}}
  %m = tg.mul %a, %a {tg.loop_splits = [array<i64: 3>, array<i64>]} : tensor<4x8xf32, #tg.place<"CPU">>
  %s = tg.store %o, %m : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

// -----

func.func @chain(%x: tensor<4x8xf32, #tg.place<"CPU", global>>, %o: tensor<4x8xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.load %x : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU">>
  // expected-error @+1 {{tg.loop_splits does not fit this op}}
  %m = tg.mul %a, %a {tg.loop_splits = [array<i64: 2, 4>, array<i64>]} : tensor<4x8xf32, #tg.place<"CPU">>
  %s = tg.store %o, %m : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

// -----

func.func @words(%x: tensor<4x8xf32, #tg.place<"CPU", global>>, %o: tensor<4x8xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.load %x : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU">>
  // expected-error @+1 {{tg.loop_splits does not fit this op}}
  %m = tg.mul %a, %a {tg.loop_splits = ["a", "b"]} : tensor<4x8xf32, #tg.place<"CPU">>
  %s = tg.store %o, %m : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

// -----

func.func @kind(%x: tensor<4x8xf32, #tg.place<"CPU", global>>, %o: tensor<4x8xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.load %x : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU">>
  // expected-error @+1 {{tg.realised is no unit}}
  %m = tg.mul %a, %a {tg.realised = 3 : i64} : tensor<4x8xf32, #tg.place<"CPU">>
  %s = tg.store %o, %m : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

// -----

func.func @pad(%x: tensor<4x8xf32, #tg.place<"CPU", global>>, %o: tensor<4x8xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.load %x : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU">>
  // expected-error @+1 {{tg.holds_source needs a PAD and a source that are tg.realised}}
  %m = tg.mul %a, %a {tg.holds_source} : tensor<4x8xf32, #tg.place<"CPU">>
  %s = tg.store %o, %m : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

// -----

func.func @online(%x: tensor<4x8xf32, #tg.place<"CPU", global>>, %o: tensor<4x8xf32, #tg.place<"CPU", global>> {tg.output}) {
  %a = tg.load %x : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<4x8xf32, #tg.place<"CPU">>
  // expected-error @+1 {{tg.online_blocks does not fit this op}}
  %m = tg.mul %a, %a {tg.online_blocks = array<i64: 4>} : tensor<4x8xf32, #tg.place<"CPU">>
  %s = tg.store %o, %m : tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<4x8xf32, #tg.place<"CPU">>
  %k = tg.sink %s : !tg.void
  func.return
}

// -----

func.func @argument(%x: tensor<4xf32, #tg.place<"CPU", global>>, %o: tensor<6xf32, #tg.place<"CPU", global>> {tg.output}) {
  // expected-error @+1 {{tg.holds_source needs a PAD and a source that are tg.realised}}
  %p = tg.pad %x at [1] to [6] fill 0.0 : f32 {tg.realised, tg.holds_source} : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<6xf32, #tg.place<"CPU", global>>
  %s = tg.store %o, %p : tensor<6xf32, #tg.place<"CPU", global>>, tensor<6xf32, #tg.place<"CPU", global>>
  %k = tg.sink %s : !tg.void
  func.return
}

// -----

func.func @buffer(%o: tensor<4xf32, #tg.place<"CPU", global>> {tg.output}) {
  // expected-error @+1 {{tg.realised does not fit this op}}
  %b = tg.buffer 0 {tg.realised} : tensor<4xf32, #tg.place<"CPU", global>>
  %s = tg.store %o, %b : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>
  %k = tg.sink %s : !tg.void
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics

// What may not be sharded, or not like this, and why.

func.func @f(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{operands are sharded on different axes: 0 and 1}}
  %0 = tg.add %x, %y : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<4xf32, #tg.place<["A", "C"], axis = 0>>) {
  // expected-error@below {{operands are on different devices: [A, B] and [A, C]}}
  %0 = tg.add %x, %y : (tensor<4xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4xf32, #tg.place<["A", "C"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%m: tensor<4x4xf32, #tg.place<["A", "B"], global, axis = 0>>, %x: tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{operands are sharded on different axes: 0 and 1}}
  %0 = tg.store %m, %x : tensor<4x4xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<["A", "B"], global, axis = 0>>, %x: tensor<4xf32, #tg.place<"A">>) {
  // expected-error@below {{operands are on different devices: [A, B] and A}}
  %0 = tg.store %m, %x : tensor<4xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4xf32, #tg.place<"A">>
  func.return
}

// -----

func.func @f(%m: tensor<4x4xf32, #tg.place<["A", "B"], global, axis = 0>>, %x: tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>, %g: tensor<4x4xi1, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{operands are sharded on different axes: 0 and 1}}
  %0 = tg.load %m alt %x gate %g : tensor<4x4xf32, #tg.place<["A", "B"], global, axis = 0>>, tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x4xi1, #tg.place<["A", "B"], axis = 1>> -> tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %i: tensor<2xi32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{index 0 may not be sharded: another operand is}}
  %0 = tg.index %x[%i] : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<2xi32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x6xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

// -----

func.func @f(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %i: tensor<i32>) {
  // expected-error@below {{the sharding axis 0 may not be indexed}}
  %0 = tg.index %x[%i] : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<i32>) -> tensor<6xf32, #tg.place<["A", "B"]>>
  func.return
}

// -----

func.func @f(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{the sharding axis 0 may not be flipped}}
  %0 = tg.flip %x [true, false] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<6x4xf32, #tg.place<["A", "B", "C"], axis = 0>>) {
  // expected-error@below {{reshape from 6x4 to 4x6 moves the shard boundaries of axis 0}}
  %0 = tg.reshape %x [4, 6] : tensor<6x4xf32, #tg.place<["A", "B", "C"], axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B", "C"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{reshape from 4x4 to 16 moves the shard boundaries of axis 1}}
  %0 = tg.reshape %x [16] : tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<16xf32, #tg.place<["A", "B"]>>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32, #tg.place<["A", "B", "C", "D"], axis = 0>>) {
  // expected-error@below {{the sharding axis 0 may not change from 4 to 8}}
  %0 = tg.pad %x at [0] to [8] : tensor<4xf32, #tg.place<["A", "B", "C", "D"], axis = 0>> -> tensor<8xf32, #tg.place<["A", "B", "C", "D"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{the sharding axis 0 may not change from 4 to 2}}
  %0 = tg.shrink %x at [0] to [2] : tensor<4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<2xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4x2xi8, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{bitcast of the sharding axis 1 moves the shard boundaries}}
  %0 = tg.bitcast %x to i16 : tensor<4x2xi8, #tg.place<["A", "B"], axis = 1>> -> tensor<4x1xi16, #tg.place<["A", "B"]>>
  func.return
}

// -----

func.func @f(%x: tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{operands are sharded on different axes: 0 and 1}}
  %0 = tg.stack %x, %y : (tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x4xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<2x4x4xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{axis 0 of shape 4 does not split into 3 equal shards}}
  %0 = tg.copy %x to ["A", "B", "C"] : tensor<4xf32> -> tensor<4xf32, #tg.place<["A", "B", "C"], axis = 0>>
  func.return
}

// -----

func.func @f(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) {
  // expected-error@below {{the operands are sharded on axis 0, but the result is not sharded}}
  %0 = tg.custom "f({0})"(%x) : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"]>>
  func.return
}

// -----

func.func @f(%x: tensor<4x6xf32, #tg.place<["A", "B"]>>) {
  // expected-error@below {{the operands are not sharded, but the result is sharded on axis 1}}
  %0 = tg.ins "dsp.rcp"(%x) : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

// -----

func.func @f(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %w: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{operands are sharded on different axes: 0 and 1}}
  %0 = tg.custom "f({}, {})"(%x, %w) : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func private @g(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>

func.func @f(%w: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) {
  // expected-error@below {{argument}}
  %0 = tg.call @g(%w) : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> !tg.tuple<tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>>
  func.return
}

// -----

func.func @f() {
  %n = tg.param 0 min 1 max 9 : tensor<index>
  %x = tg.param 1 (%n, %n) : tensor<?x4x?xf32, #tg.place<["A", "B"], axis = 1>>
  // expected-error@below {{a dynamic axis comes before the sharding axis 1}}
  %0 = tg.reshape %x [1, %n, 4, %n] : tensor<?x4x?xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<1x?x4x?xf32, #tg.place<["A", "B"], axis = 2>>
  func.return
}

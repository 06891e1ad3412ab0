// RUN: tg-opt %s -p tg-shard --split-input-file --verify-diagnostics
// RUN: tg-opt %s -p 'tg-shard{devices=A,B}' --split-input-file --verify-diagnostics

// expected-error@below {{tg.sharding of argument 0: axis 0 of shape 3x4 does not split into 2 equal shards}}
func.func @odd(%x: tensor<3x4xf32> {tg.sharding = #tg.place<["A", "B"], axis = 0>}) -> tensor<3x4xf32> {
  func.return %x : tensor<3x4xf32>
}

// -----

// expected-error@below {{tg.sharding of result 0: the sharding axis 2 is not an axis of shape 2x4}}
func.func @axis(%x: tensor<2x4xf32>) -> (tensor<2x4xf32> {tg.sharding = #tg.place<["A", "B"], axis = 2>}) {
  func.return %x : tensor<2x4xf32>
}

// -----

// expected-error@below {{tg.sharding of argument 0 is a #tg.place with several devices, not 3 : i64}}
func.func @number(%x: tensor<2x4xf32> {tg.sharding = 3 : i64}) -> tensor<2x4xf32> {
  func.return %x : tensor<2x4xf32>
}

// -----

// expected-error@below {{tg.sharding of argument 0 is a #tg.place with several devices, not #tg.place<"A">}}
func.func @one(%x: tensor<2x4xf32> {tg.sharding = #tg.place<"A">}) -> tensor<2x4xf32> {
  func.return %x : tensor<2x4xf32>
}

// -----

func.func @others(%x: tensor<2x4xf32> {tg.sharding = #tg.place<["A", "B"], axis = 0>}) -> tensor<2x4xf32> {
  // expected-error@below {{tg.sharding of tg.exp2 names B, A, where others name A, B}}
  %0 = tg.exp2 %x {tg.sharding = #tg.place<["B", "A"], axis = 0>} : tensor<2x4xf32>
  func.return %0 : tensor<2x4xf32>
}

// -----

// expected-error@below {{a program for tg-shard names no device in types: tensor<2x4xf32, #tg.place<"A">>}}
func.func @placed(%x: tensor<2x4xf32, #tg.place<"A">>, %y: tensor<2xf32> {tg.sharding = #tg.place<["A", "B"], axis = 0>}) -> tensor<2x4xf32, #tg.place<"A">> {
  func.return %x : tensor<2x4xf32, #tg.place<"A">>
}

// -----

func.func @invalid_cells(%x: tensor<2x3xf32> {tg.sharding = #tg.place<["A", "B"], axis = 0>}) -> tensor<2x4xf32> {
  // expected-error@below {{tg.pad gives no value that is split along axis 1, and what has invalid cells (a PAD without fill) cannot be moved}}
  %0 = tg.pad %x at [0, 0] to [2, 4] {tg.sharding = #tg.place<["A", "B"], axis = 1>} : tensor<2x3xf32> -> tensor<2x4xf32>
  func.return %0 : tensor<2x4xf32>
}

// -----

// expected-error@below {{tg.sharding of result 0: there is no input 1}}
func.func @no_input(%x: tensor<2x4xf32> {tg.sharding = #tg.place<["A", "B"], axis = 0>}) -> (tensor<2x4xf32> {tg.sharding = 1 : i64}) {
  func.return %x : tensor<2x4xf32>
}

// -----

// expected-error@below {{tg.sharding of result 0, tensor<2x4xf32>: input 1 is tensor<4xf32>}}
func.func @other_type(%x: tensor<2x4xf32> {tg.sharding = #tg.place<["A", "B"], axis = 0>}, %y: tensor<4xf32>) -> (tensor<2x4xf32> {tg.sharding = 1 : i64}) {
  func.return %x : tensor<2x4xf32>
}

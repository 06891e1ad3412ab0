// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<2xf32, #tg.place<"A">>, %b: tensor<2xf32, #tg.place<"B">>) {
  // expected-error@below {{1 flags for 2 shards}}
  %m = tg_legacy.multi %a, %b axis 0 real [true] : (tensor<2xf32, #tg.place<"A">>, tensor<2xf32, #tg.place<"B">>) -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// -----

func.func @f(%a: tensor<2xf32, #tg.place<"A">>, %b: tensor<2xf32, #tg.place<"B">>) {
  // expected-error@below {{without an axis each shard is the whole: all of them are real}}
  %m = tg_legacy.multi %a, %b real [true, false] : (tensor<2xf32, #tg.place<"A">>, tensor<2xf32, #tg.place<"B">>) -> tensor<2xf32, #tg.place<["A", "B"]>>
  func.return
}

// -----

func.func @f(%a: tensor<2xf32, #tg.place<"A">>) {
  // expected-error@below {{a MULTI has at least two shards, got 1}}
  %m = tg_legacy.multi %a axis 0 real [true] : tensor<2xf32, #tg.place<"A">>
  func.return
}

// -----

func.func @f(%a: tensor<2xf32, #tg.place<"A">>, %b: tensor<2xf32>) {
  // expected-error@below {{a shard is on one device, not tensor<2xf32>}}
  %m = tg_legacy.multi %a, %b axis 0 real [true, true] : (tensor<2xf32, #tg.place<"A">>, tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2xf32, #tg.place<"A">>, %b: tensor<3xf32, #tg.place<"B">>) {
  // expected-error@below {{the shards differ: tensor<2xf32, #tg.place<"A">> and tensor<3xf32, #tg.place<"B">>}}
  %m = tg_legacy.multi %a, %b axis 0 real [true, true] : (tensor<2xf32, #tg.place<"A">>, tensor<3xf32, #tg.place<"B">>) -> tensor<5xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2xf32, #tg.place<"A">>, %b: tensor<2xf32, #tg.place<"A">>) {
  // expected-error@below {{a device tuple holds one or more distinct devices: ('A', 'A')}}
  %m = tg_legacy.multi %a, %b axis 0 real [true, true] : (tensor<2xf32, #tg.place<"A">>, tensor<2xf32, #tg.place<"A">>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2xf32, #tg.place<"A">>, %b: tensor<2xf32, #tg.place<"B">>) {
  // expected-error@below {{axis 1 is not an axis of tensor<2xf32, #tg.place<"A">>}}
  %m = tg_legacy.multi %a, %b axis 1 real [true, true] : (tensor<2xf32, #tg.place<"A">>, tensor<2xf32, #tg.place<"B">>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<?xf32, #tg.place<"A">>, %b: tensor<?xf32, #tg.place<"B">>) {
  // expected-error@below {{the extent of axis 0 is unknown in tensor<?xf32, #tg.place<"A">>}}
  %m = tg_legacy.multi %a, %b axis 0 real [true, true] : (tensor<?xf32, #tg.place<"A">>, tensor<?xf32, #tg.place<"B">>) -> tensor<?xf32>
  func.return
}

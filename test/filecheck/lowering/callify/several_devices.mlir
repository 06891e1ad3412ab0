// RUN: tg-opt %s -p tg-callify --split-input-file --verify-diagnostics

// A value on several devices is not one in the memory of one: tg-lower-shards comes first.

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{a value on several devices: tg-lower-shards makes a program of one device of it}}
  %0 = tg.copy %x to ["A", "B"] : tensor<4xf32> -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return %x : tensor<4xf32>
}

// -----

func.func @f() {
  // expected-error@below {{a value on several devices: tg-lower-shards makes a program of one device of it}}
  %0 = tg.buffer 0 : tensor<4xf32, #tg.place<["A", "B"], global, axis = 0>>
  func.return
}

// -----

// expected-error@below {{a value on several devices: tg-lower-shards makes a program of one device of it}}
func.func @f(%x: tensor<4xf32, #tg.place<["A", "B"]>>) {
  func.return
}

// -----

func.func @f(%x: tensor<4xf32, #tg.place<"CUDA:0">>) -> tensor<4xf32, #tg.place<"CPU">> {
  // expected-error@below {{this is on CPU, and other values are on CUDA:0: tg-lower-shards makes a program of each device, tg-callify{device=NAME} one of all}}
  %0 = tg.copy %x to "CPU" : tensor<4xf32, #tg.place<"CUDA:0">> -> tensor<4xf32, #tg.place<"CPU">>
  func.return %0 : tensor<4xf32, #tg.place<"CPU">>
}

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

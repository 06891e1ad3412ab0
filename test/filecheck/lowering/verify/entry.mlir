// RUN: tg-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tg-to-llvm)'

// A stage checks the level of what it is given: a function that is no program on tensors is refused
// before anything is done with it.

// expected-error@below {{tg-callify needs level tensor: @main has 2 blocks, not one}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.neg %x : tensor<4xf32>
  cf.br ^bb1
^bb1:
  func.return %x : tensor<4xf32>
}

// -----

// expected-error@below {{argument 0: the encoding of tensor<4xf32, "foo"> is not a #tg.place}}
func.func @main(%x: tensor<4xf32, "foo">) {
  func.return
}

// -----

// expected-error@below {{argument 0 is memref<4xf32>, not a ranked tensor}}
func.func @main(%x: memref<4xf32>) {
  %0 = tg.const 1.0 : tensor<f32>
  func.return
}

// -----

// expected-error@below {{result 1 is !tg.tuple<tensor<4xf32>>, not a ranked tensor}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, !tg.tuple<tensor<4xf32>>) {
  %0 = tg.tuple %x : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  func.return %x, %0 : tensor<4xf32>, !tg.tuple<tensor<4xf32>>
}

// -----

// expected-error@below {{argument 0: vector<4xf32> is not a dtype}}
func.func @main(%x: tensor<4xvector<4xf32>>) {
  %0 = tg.const 1.0 : tensor<f32>
  func.return
}

// -----

// expected-error@below {{argument 0: tensor<9223372036854775807xf32> has 36893488147419103228 bytes, more than can be addressed}}
func.func @main(%x: tensor<9223372036854775807xf32>) {
  func.return
}

// -----

// expected-error@below {{argument 0: tg.min is "x", of another kind}}
func.func @main(%n: tensor<index> {tg.min = "x"}) {
  func.return
}

// -----

// expected-error@below {{argument 0: tg.min 8 is greater than tg.max 1}}
func.func @main(%n: tensor<index> {tg.min = 8 : index, tg.max = 1 : index}) {
  func.return
}

// -----

// expected-error@below {{argument 1: tg.dims says 99, which is no index argument}}
func.func @main(%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 99>}) {
  func.return
}

// -----

// expected-error@below {{argument 0: tg.dims has 2 entries for 1 dynamic axes}}
func.func @main(%x: tensor<?xf32> {tg.dims = array<i64: 0, 0>}) {
  func.return
}

// -----

// expected-error@below {{argument 0 is marked tg.output, which callify adds}}
func.func @main(%x: tensor<4xf32, #tg.place<"CPU", global>> {tg.output}) {
  func.return
}

// -----

// expected-error@below {{builtin.module is not part of level tensor}}
module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tg.neg %x : tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}
module {
}

// -----

func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{a tensor program cannot call @outside: it has no body}}
  %0 = func.call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tg.neg %0 : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// -----

// expected-error@below {{argument 0: tg.donated is 1, of 1 results}}
func.func @main(%x: tensor<4xf32> {tg.donated = 1 : i64}) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// -----

// expected-error@below {{argument 0: a constant is not {tg.donated}}}
func.func @main(%x: tensor<4xf32> {tg.donated = 0 : i64, tg.constant}) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// -----

// expected-error@below {{argument 0: an index scalar is not {tg.donated}}}
func.func @main(%x: tensor<index> {tg.donated = 0 : i64}) -> tensor<index> {
  func.return %x : tensor<index>
}

// -----

// expected-error@below {{argument 0 is marked tg.data, which callify adds}}
func.func @main(%x: tensor<1xui8> {tg.constant, tg.data = #tg.data<"00">}) -> tensor<1xui8> {
  func.return %x : tensor<1xui8>
}

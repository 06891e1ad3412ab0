// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<?x?xf32>) {
  %y = tg.permute %x [1, 0] : tensor<?x?xf32>
  // expected-error@below {{axis 0: ? and ? do not broadcast; name the extent by an index argument, as in `%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0>}`}}
  %0 = tg.add %x, %y : tensor<?x?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  // expected-error@below {{axis 0: ? and ? do not broadcast; name the extent by an index argument, as in `%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0>}`}}
  %0 = tg.add %x, %y : tensor<?xf32>
  func.return
}

// -----

func.func @f(%n: tensor<index>, %m: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0>}, %y: tensor<?xf32> {tg.dims = array<i64: 1>}) {
  // expected-error@below {{axis 0: %n and %m do not broadcast}}
  %0 = tg.add %x, %y : tensor<?xf32>
  func.return
}

// -----

func.func @f(%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 0, 0>}) {
  // expected-error@below {{tg.dims names 2 arguments for the 1 dynamic axes of argument 1}}
  %0 = tg.exp2 %x : tensor<?xf32>
  func.return
}

// -----

func.func @f(%n: tensor<index>, %x: tensor<?xf32> {tg.dims = array<i64: 7>}) {
  // expected-error@below {{tg.dims: argument 7 is not a tensor<index>}}
  %0 = tg.exp2 %x : tensor<?xf32>
  func.return
}

// -----

func.func @f(%n: tensor<i32>, %x: tensor<?xf32> {tg.dims = array<i64: 0>}) {
  // expected-error@below {{tg.dims: argument 0 is not a tensor<index>}}
  %0 = tg.exp2 %x : tensor<?xf32>
  func.return
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tg-callify)'

func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{@loop calls itself}}
  %0 = func.call @loop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{a tensor program cannot call @outside: it has no body}}
  %0 = func.call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tg.neg %0 : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
func.func private @outside(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error@below {{argument 0 is f32, not a ranked tensor}}
func.func @main(%x: f32) {
  %0 = tg.const 1.0 : tensor<f32>
  func.return
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{tg.outline is true or false, not "no"}}
  %f = tg.function(%x) attributes {tg.outline = "no"} {
    %p = tg.param 0 : tensor<4xf32>
    tg.tuple %p : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  %r = tg.gettuple %f 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @main(%w: tensor<4xf32, #tg.place<"CPU", global>> {tg.constant}) {
  %0 = tg.neg %w : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  // expected-error@below {{an argument that is {tg.constant} is written}}
  %1 = tg.store %w, %0 : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

func.func @main() -> tensor<4xf32> {
  // expected-error@below {{tg.constant is a unit, and for tensors alone}}
  %w = tg.param 0 {tg.constant = 1 : i64} : tensor<4xf32>
  func.return %w : tensor<4xf32>
}

// -----

// expected-error@below {{argument 0: an index scalar is not {tg.constant}}}
func.func @main(%n: tensor<index> {tg.constant}) {
  func.return
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{a function that is called holds no tg.param}}
  %p = tg.param 0 : tensor<4xf32>
  %1 = tg.add %x, %p : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32, #tg.place<"CPU", global>>) {
  func.call @callee(%x) : (tensor<4xf32, #tg.place<"CPU", global>>) -> ()
  func.return
}
func.func private @callee(%x: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{a function that is called holds no tg.buffer}}
  %b = tg.buffer 0 : tensor<4xf32, #tg.place<"CPU", global>>
  %s = tg.store %x, %b : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

// Memory that a result may take is not written otherwise.

func.func @main(%x: tensor<4xf32, #tg.place<"CPU", global>> {tg.donated = 0 : i64}, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{an argument that is {tg.donated} is written}}
  %0 = tg.store %x, %y : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  %1 = tg.neg %y : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// -----

func.func @main() -> tensor<4xf32> {
  // expected-error@below {{tg.donated is the number of a result, and for tensors alone}}
  %0 = tg.param 0 {tg.donated} : tensor<4xf32>
  %1 = tg.neg %0 : tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

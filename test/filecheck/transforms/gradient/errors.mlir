// RUN: tg-opt %s -p tg-gradient --split-input-file --verify-diagnostics

// What a kernel writes is opaque.
tg.kernel @k {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %x = tg.param 1 : tensor<f32, #tg.place<global>>
  %v = tg.load %x : tensor<f32, #tg.place<global>> -> tensor<f32>
  %s = tg.store %o, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %r = tg.sink %s : !tg.void
}
func.func @main(%o: tensor<f32, #tg.place<"CPU", global>>, %x: tensor<f32, #tg.place<"CPU", global>>) -> tensor<f32, #tg.place<"CPU", global>> {
  // expected-error@below {{what @k writes to memory has no gradient}}
  %c = tg.call @k(%o, %x) : (tensor<f32, #tg.place<"CPU", global>>, tensor<f32, #tg.place<"CPU", global>>) -> !tg.void
  %a = tg.after %o, %c : (tensor<f32, #tg.place<"CPU", global>>, !tg.void) -> tensor<f32, #tg.place<"CPU", global>>
  func.return %a : tensor<f32, #tg.place<"CPU", global>>
}

// -----

// A function that stores to its arguments is opaque as well.
func.func private @f(%o: tensor<4xf32, #tg.place<"CPU", global>>, %x: tensor<4xf32>) {
  %s = tg.store %o, %x : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  %r = tg.sink %s : !tg.void
  func.return
}
func.func @main(%o: tensor<4xf32, #tg.place<"CPU", global>>, %x: tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU", global>> {
  // expected-error@below {{what @f writes to memory has no gradient}}
  %c = tg.call @f(%o, %x) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>) -> !tg.void
  %a = tg.after %o, %c : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return %a : tensor<4xf32, #tg.place<"CPU", global>>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{tg.custom has no gradient}}
  %r = tg.custom "f({0})"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

func.func @main(%o: tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU", global>> {
  // expected-error@below {{what tg.custom writes to memory has no gradient}}
  %c = tg.custom "f({0})"(%o) : (tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  %a = tg.after %o, %c : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return %a : tensor<4xf32, #tg.place<"CPU", global>>
}

// -----

// Integers have no gradient, but these are the bits of a float that has one.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = tg.bitcast %x to i32 : tensor<4xf32> -> tensor<4xi32>
  %n = tg.xor %b, %b : tensor<4xi32>
  // expected-error@below {{a BITCAST from i32 to f32 has no gradient}}
  %r = tg.bitcast %n to f32 : tensor<4xi32> -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// A function at the level of `function` gives no tensors.
// expected-error@below {{only a function that gives tensors has a gradient}}
func.func @main(%x: tensor<4xf32, #tg.place<"CPU", global>>, %o: tensor<4xf32, #tg.place<"CPU", global>> {tg.output}) {
  %s = tg.store %o, %x : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>
  %r = tg.sink %s : !tg.void
  func.return
}

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{@f calls itself}}
  %t = tg.call @f(%x) : (tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  %r = tg.gettuple %t 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = tg.call @f(%x) : (tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  %r = tg.gettuple %t 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// expected-error@below {{there is a function @main_gradient already}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func @main_gradient(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

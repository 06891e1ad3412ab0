// RUN: tg-opt %s -p 'tg-verify{level=function}' --verify-diagnostics --split-input-file

func.func @main(%n: tensor<index>, %r: tensor<4xf32, #tg.place<"CPU", global>> {tg.output}) {
  %c = tg.const 1.0 : tensor<f32>
  %e = tg.reshape %c [1] : tensor<f32> -> tensor<1xf32>
  %f = tg.expand %e [4] : tensor<1xf32> -> tensor<4xf32>
  %s = tg.store %r, %f : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  %0 = tg.sink %s : !tg.void
  func.return
}

// -----

// expected-error@below {{argument 1 is tensor<4xf32>, neither an index scalar nor global memory on a device}}
func.func @value(%n: tensor<index>, %a: tensor<4xf32>) {
  %0 = "tg.sink"() : () -> !tg.void
  func.return
}

// -----

// expected-error@below {{a function returns nothing at this level: results are arguments}}
func.func @result(%a: tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU", global>> {
  %0 = "tg.sink"() : () -> !tg.void
  func.return %a : tensor<4xf32, #tg.place<"CPU", global>>
}

// -----

// expected-error@below {{the body of a function has one tg.sink, not 0}}
func.func @no_sink() {
  func.return
}

// -----

func.func @marker(%a: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{tg.contiguous is not part of func.func at level function}}
  %c = tg.contiguous %a : tensor<4xf32, #tg.place<"CPU", global>>
  %0 = "tg.sink"() : () -> !tg.void
  func.return
}

// -----

// BINARYs are arguments at this level, whose bytes are all of their elements.

func.func @binary() {
  // expected-error@below {{tg.binary is not part of func.func at level function}}
  %b = tg.binary "00" : tensor<1xui8>
  %0 = tg.sink
  func.return
}

// -----

// expected-error@below {{argument 0: {tg.data} is {tg.constant}, too}}
func.func @varies(%d: tensor<1xui8, #tg.place<"CPU", global>> {tg.data = #tg.data<"00">}) {
  %0 = tg.sink
  func.return
}

// -----

// expected-error@below {{argument 0: tg.data has 3 bytes, and tensor<1xf32, #tg.place<"CPU", global>> has 4}}
func.func @short(%d: tensor<1xf32, #tg.place<"CPU", global>> {tg.constant, tg.data = #tg.data<"000000">}) {
  %0 = tg.sink
  func.return
}

// -----

// expected-error@below {{argument 0: tensor<1xi1, #tg.place<"CPU", global>> has no {tg.data}}}
func.func @bool(%d: tensor<1xi1, #tg.place<"CPU", global>> {tg.constant, tg.data = #tg.data<"02">}) {
  %0 = tg.sink
  func.return
}

// -----

// expected-error@below {{argument 0: tg.data is "00", of another kind}}
func.func @text(%d: tensor<1xui8, #tg.place<"CPU", global>> {tg.constant, tg.data = "00"}) {
  %0 = tg.sink
  func.return
}

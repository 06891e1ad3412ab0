// RUN: tg-opt %s --split-input-file --verify-diagnostics

tg.kernel @k {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %s = tg.sink
}
func.func @f() {
  // expected-error@below {{there is no symbol @missing}}
  %0 = tg.call @missing() : !tg.void
  func.return
}

// -----

tg.kernel @k {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %s = tg.sink
}
func.func @f(%a: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{@k has 1 parameters, got 2 arguments}}
  %0 = tg.call @k(%a, %a) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  func.return
}

// -----

tg.kernel @k {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %s = tg.sink
}
func.func @f(%a: tensor<5xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{argument 0 is tensor<5xf32, #tg.place<"CPU", global>>, the parameter tensor<4xf32, #tg.place<global>>}}
  %0 = tg.call @k(%a) : tensor<5xf32, #tg.place<"CPU", global>> -> !tg.void
  func.return
}

// -----

tg.kernel @k {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %s = tg.sink
}
func.func @f(%a: tensor<4xf32>) {
  // expected-error@below {{argument 0 is tensor<4xf32>, the parameter tensor<4xf32, #tg.place<global>>}}
  %0 = tg.call @k(%a) : tensor<4xf32> -> !tg.void
  func.return
}

// -----

tg.kernel @k {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %s = tg.sink
}
func.func @f(%a: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{@k gives !tg.void, not tensor<4xf32>}}
  %0 = tg.call @k(%a) : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32>
  func.return
}

// -----

func.func private @g(tensor<f32>) -> tensor<f32>
func.func @f(%a: tensor<f32>) {
  // expected-error@below {{@g gives !tg.tuple<tensor<f32>>, not !tg.void}}
  %0 = tg.call @g(%a) : tensor<f32> -> !tg.void
  func.return
}

// -----

builtin.module @m {
}
func.func @f() {
  // expected-error@below {{@m is a builtin.module, which is not callable}}
  %0 = tg.call @m() : !tg.void
  func.return
}

// -----

func.func private @h(tensor<4xf32, #tg.place<"CPU", global>>)
func.func @f(%a: tensor<4xf32, #tg.place<"GPU", global>>) {
  // expected-error@below {{argument 0 is tensor<4xf32, #tg.place<"GPU", global>>, the parameter tensor<4xf32, #tg.place<"CPU", global>>}}
  %0 = tg.call @h(%a) : tensor<4xf32, #tg.place<"GPU", global>> -> !tg.void
  func.return
}

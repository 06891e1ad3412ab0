// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@below {{"r 4" is not an identifier}}
  %k = tg_legacy.kernel "r 4"() {
    %r = tg.sink
  } : !tg.void
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the body of a KERNEL ends in its tg.sink}}
  %k = tg_legacy.kernel "k"() {
    %c = tg.const 1.0 : tensor<f32>
  } : !tg.void
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@below {{a KERNEL takes memory and BINDs, not tensor<4xf32>}}
  %k = tg_legacy.kernel "k"(%a) {
    %r = tg.sink
  } : tensor<4xf32> -> !tg.void
  func.return
}

// -----

func.func @f(%a: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{DEFINE_GLOBAL 1 has no source: there are 1}}
  %k = tg_legacy.kernel "k"(%a) {
    %1 = tg_legacy.define_global 1 : tensor<4xf32, #tg.place<global>>
    %r = tg.sink
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
  func.return
}

// -----

func.func @f(%a: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{DEFINE_GLOBAL 0 is tensor<4xi32, #tg.place<global>>, its source tensor<4xf32, #tg.place<"CPU", global>>}}
  %k = tg_legacy.kernel "k"(%a) {
    %0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<global>>
    %r = tg.sink
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
  func.return
}

// -----

func.func @f(%a: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{DEFINE_GLOBAL 0 is tensor<8xf32, #tg.place<global>>, its source tensor<4xf32, #tg.place<"CPU", global>>}}
  %k = tg_legacy.kernel "k"(%a) {
    %0 = tg_legacy.define_global 0 : tensor<8xf32, #tg.place<global>>
    %r = tg.sink
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
  func.return
}

// -----

func.func @f(%a: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{DEFINE_GLOBAL 0 is tensor<8xf32, #tg.place<global>>, its source tensor<4xf32, #tg.place<"CPU", global>>}}
  %k = tg_legacy.kernel "k"(%a) {
    %l = tg.linear {
      %0 = tg_legacy.define_global 0 : tensor<8xf32, #tg.place<global>>
    }
    %r = tg.sink
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
  func.return
}

// -----

func.func @f(%a: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{no BIND gives the variable "n", 1 to 64, a value}}
  %k = tg_legacy.kernel "k"(%a) {
    %n = tg_legacy.define_var "n" 1 to 64 : tensor<i32>
    %r = tg.sink
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
  func.return
}

// -----

func.func @f() {
  %n = tg_legacy.define_var "n" 1 to 64 : tensor<i32>
  %c = tg.const 7 : tensor<i32>
  %b = tg_legacy.bind %n, %c : tensor<i32>
  // expected-error@below {{no BIND gives the variable "n", 1 to 4, a value}}
  %k = tg_legacy.kernel "k"(%b) {
    %m = tg_legacy.define_var "n" 1 to 4 : tensor<i32>
    %r = tg.sink
  } : tensor<i32> -> !tg.void
  func.return
}

// -----

func.func @f() {
  %c = tg.const 7 : tensor<i32>
  // expected-error@below {{Operation using value defined out of its IsolatedFromAbove parent: NegOp(%m = tg.neg %c : tensor<i32>)}}
  %k = tg_legacy.kernel "k"() {
    %m = tg.neg %c : tensor<i32>
    %r = tg.sink
  } : !tg.void
  func.return
}

// -----

func.func @f(%a: tensor<4xf32, #tg.place<"CPU", global>>) {
  %k = tg_legacy.kernel "k"(%a) {
    // expected-error@below {{slot -1 is negative}}
    %0 = tg_legacy.define_global -1 : tensor<4xf32, #tg.place<global>>
    %r = tg.sink
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{"inner" is a KERNEL in a KERNEL}}
  %k = tg_legacy.kernel "outer"() {
    %i = tg_legacy.kernel "inner"() {
      %r = tg.sink
    } : !tg.void
    %s = tg.sink %i : !tg.void
  } : !tg.void
  func.return
}

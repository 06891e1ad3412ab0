// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xf32>) {
  // expected-error@below {{the body has 1 parameters for 2 arguments}}
  %r = tg.function(%a, %a) {
    %p = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %p : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f() {
  // expected-error@below {{the body has 1 parameters for 0 arguments}}
  %r = tg.function() {
    %p = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %p : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  %r = tg.function(%a, %a) {
    // expected-error@below {{slots are not dense: there is no slot 0}}
    %p = tg.param 1 : tensor<4xf32>
    %t = tg.tuple %p : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  %r = tg.function(%a) {
    // expected-error@below {{slot 0 is tensor<4xf32> and tensor<5xf32>}}
    %p = tg.param 0 : tensor<4xf32>
    %q = tg.param 0 : tensor<5xf32>
    %t = tg.tuple %p : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%a: tensor<5xf32>) {
  // expected-error@below {{argument 0 is tensor<5xf32>, the parameter tensor<4xf32>}}
  %r = tg.function(%a) {
    %p = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %p : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<5xf32> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%a: tensor<4xf16>) {
  // expected-error@below {{argument 0 is tensor<4xf16>, the parameter tensor<4xf32>}}
  %r = tg.function(%a) {
    %p = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %p : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf16> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@below {{argument 0 is tensor<4xf32>, the parameter tensor<4xf32, #tg.place<"CPU", global>>}}
  %r = tg.function(%a) {
    %p = tg.param 0 : tensor<4xf32, #tg.place<"CPU", global>>
    %t = tg.tuple %p : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU", global>>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU", global>>>
  func.return
}

// -----

func.func @f(%n: tensor<index>, %a: tensor<8xf32>) {
  // expected-error@below {{the result type is written as !tg.tuple<tensor<?xf32>>, but the op gives !tg.tuple<tensor<8xf32>>}}
  %r = tg.function(%n, %a) {
    %m = tg.param 0 : tensor<index>
    %p = tg.param 1 (%m) : tensor<?xf32>
    %t = tg.tuple %p : tensor<?xf32> -> !tg.tuple<tensor<?xf32>>
  } : (tensor<index>, tensor<8xf32>) -> !tg.tuple<tensor<?xf32>>
  func.return
}

// -----

func.func @f(%n: tensor<index>, %a: tensor<8xf32>) {
  // expected-error@below {{parameter 0 is 8, and its max is 4}}
  %r = tg.function(%n, %a) {
    %m = tg.param 0 max 4 : tensor<index>
    %p = tg.param 1 (%m) : tensor<?xf32>
    %t = tg.tuple %p : tensor<?xf32> -> !tg.tuple<tensor<?xf32>>
  } : (tensor<index>, tensor<8xf32>) -> !tg.tuple<tensor<8xf32>>
  func.return
}

// -----

func.func @f(%n: tensor<index>, %a: tensor<8xf32>, %b: tensor<9xf32>) {
  // expected-error@below {{parameter 0 is 9, and its max is 8}}
  %r = tg.function(%n, %a, %b) {
    %m = tg.param 0 : tensor<index>
    %p = tg.param 1 (%m) : tensor<?xf32>
    %q = tg.param 2 (%m) : tensor<?xf32>
    %t = tg.tuple %p : tensor<?xf32> -> !tg.tuple<tensor<?xf32>>
  } : (tensor<index>, tensor<8xf32>, tensor<9xf32>) -> !tg.tuple<tensor<8xf32>>
  func.return
}

// -----

func.func @f(%a: tensor<6xf32>, %n: tensor<index>) {
  // expected-error@below {{with these arguments, tg.reshape: reshape from 6 to %hx2 changes the number of elements}}
  %r = tg.function(%n, %a) {
    %h = tg.param 0 "h" : tensor<index>
    %two = tg.const 2 : tensor<index>
    %m = tg.mul %h, %two : tensor<index>
    %p = tg.param 1 (%m) : tensor<?xf32>
    %q = tg.reshape %p [%h, 2] : tensor<?xf32> -> tensor<?x2xf32>
    %t = tg.tuple %q : tensor<?x2xf32> -> !tg.tuple<tensor<?x2xf32>>
  } : (tensor<index>, tensor<6xf32>) -> !tg.tuple<tensor<?x2xf32>>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error@below {{the body of a function ends in a tg.tuple}}
  %r = tg.function(%a) {
    %p = tg.param 0 : tensor<4xf32>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32, #tg.place<"CPU", global>>) {
  %r = tg.function(%a) {
    %p = tg.param 0 : tensor<4xf32, #tg.place<"CPU", global>>
    // expected-error@below {{this tg.store has an effect on memory that is not the function's own}}
    %s = tg.store %p, %p : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>
    %t = tg.tuple %p : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU", global>>>
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU", global>>>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  %r = tg.function(%a) {
    %p = tg.param 0 : tensor<4xf32>
    // expected-error@below {{this tg.custom has an effect on memory that is not the function's own}}
    %s = tg.custom "f({0})"(%p) : tensor<4xf32>
    %t = tg.tuple %p : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  %b = tg.exp2 %a : tensor<4xf32>
  // expected-error@below {{Operation using value defined out of its IsolatedFromAbove parent}}
  %r = tg.function() {
    %t = tg.tuple %b : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : !tg.tuple<tensor<4xf32>>
  func.return
}

// -----

tg.kernel @k {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %c = tg.const 0 : tensor<index>
  %v = tg.const 1.0 : tensor<f32>
  %p = tg.index %o[%c] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %e = tg.store %p, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %k = tg.sink %e : !tg.void
}

func.func @f(%a: tensor<4xf32, #tg.place<"CPU", global>>) {
  %r = tg.function(%a) {
    %p = tg.param 0 : tensor<4xf32, #tg.place<"CPU", global>>
    // expected-error@below {{this tg.call has an effect on memory that is not the function's own}}
    %c = tg.call @k(%p) : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
    %t = tg.tuple %p : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU", global>>>
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU", global>>>
  func.return
}

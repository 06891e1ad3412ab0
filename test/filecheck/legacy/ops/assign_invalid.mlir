// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: tensor<4xf32>, %x: tensor<4xf32>) {
  // expected-error@below {{ASSIGN updates memory or an accumulator, not tensor<4xf32> of a block argument}}
  %0 = tg_legacy.assign %a, %x : tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  %a = tg.exp2 %x : tensor<f32>
  // expected-error@below {{ASSIGN updates memory or an accumulator, not tensor<f32> of tg.exp2}}
  %0 = tg_legacy.assign %a, %x : tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %x: tensor<3xf32>) {
  // expected-error@below {{the target is tensor<4xf32, #tg.place<"CPU", global>>, the value tensor<3xf32>}}
  %0 = tg_legacy.assign %m, %x : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<3xf32>) -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %x: tensor<4xi32>) {
  // expected-error@below {{the target is tensor<4xf32, #tg.place<"CPU", global>>, the value tensor<4xi32>}}
  %0 = tg_legacy.assign %m, %x : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xi32>) -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"A", global>>, %x: tensor<4xf32, #tg.place<"B">>) {
  // expected-error@below {{operands are on different devices: A and B}}
  %0 = tg_legacy.assign %m, %x : (tensor<4xf32, #tg.place<"A", global>>, tensor<4xf32, #tg.place<"B">>) -> tensor<4xf32, #tg.place<"A", global>>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %n: tensor<4xf32, #tg.place<"CPU", global>>) {
  %k = tg_legacy.kernel "k"(%m) {
    %r = tg.sink
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
  // expected-error@below {{"k" does not take the target of this ASSIGN}}
  %0 = tg_legacy.assign %n, %k : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%m: tensor<f32, #tg.place<"CPU", global>>) {
  %k = tg_legacy.unique 0
  // expected-error@below {{the value is a tensor, or a KERNEL for memory, not tg_legacy.unique}}
  %0 = tg_legacy.assign %m, %k : (tensor<f32, #tg.place<"CPU", global>>, !tg.void) -> tensor<f32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%init: tensor<f32>, %x: tensor<i32>) {
  %acc = tg_legacy.define_acc 0 from %init : tensor<f32>
  // expected-error@below {{the target is tensor<f32>, the value tensor<i32>}}
  %0 = tg_legacy.assign %acc, %x : (tensor<f32>, tensor<i32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%init: tensor<f32>) {
  %acc = tg_legacy.define_acc 0 from %init : tensor<f32>
  %k = tg_legacy.kernel "k"() {
    %r = tg.sink
  } : !tg.void
  // expected-error@below {{the value is a tensor, or a KERNEL for memory, not tg_legacy.kernel}}
  %0 = tg_legacy.assign %acc, %k : (tensor<f32>, !tg.void) -> tensor<f32>
  func.return
}

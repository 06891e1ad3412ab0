// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%v: tensor<4xf32>) {
  // expected-error@below {{AFTER takes memory or a movement of it, not tensor<4xf32>}}
  %0 = tg.after %v, %v : tensor<4xf32>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{AFTER waits for at least one op}}
  %0 = "tg.after"(%m) : (tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>) {
  // expected-error@below {{the result type is written as tensor<4xf32>, but the op gives tensor<4xf32, #tg.place<"CPU", global>>}}
  %0 = tg.after %m, %m : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %i: i32) {
  // expected-error@below {{operand 'dependencies' at position 1 does not verify: Unexpected attribute i32}}
  %0 = "tg.after"(%m, %i) : (tensor<4xf32, #tg.place<"CPU", global>>, i32) -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

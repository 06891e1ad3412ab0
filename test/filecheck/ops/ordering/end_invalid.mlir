// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<f32>, %n: tensor<index>) {
  %i = tg.range 0 loop to %n : tensor<index>
  // expected-error@below {{an END closes at least one range}}
  %0 = "tg.end"(%i) : (tensor<index>) -> !tg.void
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<f32>, %n: tensor<index>) {
  // expected-error@below {{an END closes RANGEs only}}
  %0 = tg.end %n over %n : tensor<index>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<f32>, %n: tensor<index>) {
  %i = tg.range 0 loop to %n : tensor<index>
  // expected-error@below {{range 0 is not open in the body}}
  %0 = tg.end %v over %i : tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<f32>, %n: tensor<index>) {
  %i = tg.range 0 loop to %n : tensor<index>
  %r = tg.reduce add %i [] over %i : tensor<index> -> tensor<index>
  // expected-error@below {{range 0 is not open in the body}}
  %0 = tg.end %r over %i : tensor<index>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<f32>, %n: tensor<index>) {
  %i = tg.range 0 loop to %n : tensor<index>
  %p = tg.index %m[%i] : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<index>) -> tensor<f32, #tg.place<"CPU", global>>
  %s = tg.store %p, %v : tensor<f32, #tg.place<"CPU", global>>, tensor<f32>
  // expected-error@below {{range 0 is closed more than once}}
  %0 = tg.end %s over %i, %i : !tg.void
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<f32>, %n: tensor<index>) {
  %i = tg.range 0 loop to %n : tensor<index>
  %p = tg.index %m[%i] : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<index>) -> tensor<f32, #tg.place<"CPU", global>>
  %s = tg.store %p, %v : tensor<f32, #tg.place<"CPU", global>>, tensor<f32>
  // expected-error@below {{range 0 is closed more than once}}
  %0 = tg.end %s over %i : !tg.void
  %1 = tg.end %s over %i : !tg.void
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<f32>, %n: tensor<index>) {
  %i = tg.range 0 loop to %n : tensor<index>
  %j = tg.range 1 loop to %i : tensor<index>
  // expected-error@below {{range 1 is inside a range that is closed before it}}
  %0 = tg.end %j over %i, %j : tensor<index>
  func.return
}

// -----

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<f32>, %n: tensor<index>) {
  %i = tg.range 0 loop to %n : tensor<index>
  %t = tg.range 1 thread to %n : tensor<index>
  %a = tg.index %m[%i] : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<index>) -> tensor<f32, #tg.place<"CPU", global>>
  %c = tg.cast %t to f32 : tensor<index> -> tensor<f32>
  %s = tg.store %a, %c : tensor<f32, #tg.place<"CPU", global>>, tensor<f32>
  // expected-error@below {{thread range 1 is inside range 0, not around all loops}}
  %0 = tg.end %s over %t, %i : !tg.void
  func.return
}

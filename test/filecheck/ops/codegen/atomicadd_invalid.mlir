// RUN: tg-opt %s --split-input-file --verify-diagnostics

func.func @f(%m: tensor<f32>) {
  // expected-error@below {{ATOMICADD writes memory, not tensor<f32>}}
  %0 = tg.atomicadd %m, %m : tensor<f32>, tensor<f32>
  func.return
}

// -----

func.func @f(%m: tensor<f32, #tg.place<"CPU", global>>, %v: tensor<f64>) {
  // expected-error@below {{the buffer holds f32, the value is f64}}
  %0 = tg.atomicadd %m, %v : tensor<f32, #tg.place<"CPU", global>>, tensor<f64>
  func.return
}

// -----

func.func @f(%m: tensor<f32, #tg.place<"CPU", global>>, %v: tensor<4xf32>) {
  // expected-error@below {{the buffer has shape (), the value 4}}
  %0 = tg.atomicadd %m, %v : tensor<f32, #tg.place<"CPU", global>>, tensor<4xf32>
  func.return
}

// -----

func.func @device(%b: tensor<4xf32, #tg.place<"A", global>>, %v: tensor<4xf32, #tg.place<"B">>) {
  // expected-error@below {{operands are on different devices: A and B}}
  %s = tg.atomicadd %b, %v : tensor<4xf32, #tg.place<"A", global>>, tensor<4xf32, #tg.place<"B">>
  func.return
}

// RUN: tg-opt %s -p tg-gradient --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU", global>> {
  %s = tg.store %x, %v : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  // expected-error@below {{memory that was written has no gradient}}
  %a = tg.after %x, %s : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return %a : tensor<4xf32, #tg.place<"CPU", global>>
}

// -----

// expected-error@below {{there is a function @main_gradient already}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func @main_gradient(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

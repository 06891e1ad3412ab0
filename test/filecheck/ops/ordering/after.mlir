// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<4xf32>) {
  %s = tg.store %m, %v : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  // CHECK: %a = tg.after %m, %s : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  // GENERIC: %a = "tg.after"(%m, %s) : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  %a = tg.after %m, %s : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  %w = tg.reshape %m [2, 2] : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<2x2xf32, #tg.place<"CPU", global>>
  // CHECK: %b = tg.after %w, %s, %a : (tensor<2x2xf32, #tg.place<"CPU", global>>, !tg.void, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<2x2xf32, #tg.place<"CPU", global>>
  // GENERIC: %b = "tg.after"(%w, %s, %a) : (tensor<2x2xf32, #tg.place<"CPU", global>>, !tg.void, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<2x2xf32, #tg.place<"CPU", global>>
  %b = tg.after %w, %s, %a : (tensor<2x2xf32, #tg.place<"CPU", global>>, !tg.void, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<2x2xf32, #tg.place<"CPU", global>>
  // CHECK: %c = tg.after %m, %m : tensor<4xf32, #tg.place<"CPU", global>>
  // GENERIC: %c = "tg.after"(%m, %m) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU", global>>
  %c = tg.after %m, %m : tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

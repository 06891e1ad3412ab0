// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%a: tensor<4xf32, #tg.place<"CPU">>, %b: tensor<4xf32, #tg.place<global>>, %c: tensor<4xf32, #tg.place<["A", "B"], local, axis = 0>>, %d: tensor<4xf32, #tg.place<"a \22b\22", reg>>) {
  // CHECK: %e = tg.detach %a : tensor<4xf32, #tg.place<"CPU">>
  // GENERIC: %e = "tg.detach"(%a) : (tensor<4xf32, #tg.place<"CPU">>) -> tensor<4xf32, #tg.place<"CPU">>
  %e = tg.detach %a : tensor<4xf32, #tg.place<"CPU">>
  // CHECK: %f = tg.detach %b : tensor<4xf32, #tg.place<global>>
  // GENERIC: %f = "tg.detach"(%b) : (tensor<4xf32, #tg.place<global>>) -> tensor<4xf32, #tg.place<global>>
  %f = tg.detach %b : tensor<4xf32, #tg.place<global>>
  // CHECK: %g = tg.detach %c : tensor<4xf32, #tg.place<["A", "B"], local, axis = 0>>
  // GENERIC: %g = "tg.detach"(%c) : (tensor<4xf32, #tg.place<["A", "B"], local, axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"], local, axis = 0>>
  %g = tg.detach %c : tensor<4xf32, #tg.place<["A", "B"], local, axis = 0>>
  // CHECK: %h = tg.detach %d : tensor<4xf32, #tg.place<"a \22b\22", reg>>
  // GENERIC: %h = "tg.detach"(%d) : (tensor<4xf32, #tg.place<"a \22b\22", reg>>) -> tensor<4xf32, #tg.place<"a \22b\22", reg>>
  %h = tg.detach %d : tensor<4xf32, #tg.place<"a \22b\22", reg>>
  func.return
}

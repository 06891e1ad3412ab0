// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4xf32>, %m: tensor<4xf32, #tg.place<"CPU", global>>, %s: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>, %d: tensor<?xi8>) {
  // CHECK: %a = tg.detach %x : tensor<4xf32>
  // GENERIC: %a = "tg.detach"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = tg.detach %x : tensor<4xf32>
  // CHECK: %b = tg.detach %m : tensor<4xf32, #tg.place<"CPU", global>>
  // GENERIC: %b = "tg.detach"(%m) : (tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU", global>>
  %b = tg.detach %m : tensor<4xf32, #tg.place<"CPU", global>>
  // CHECK: %c = tg.detach %s : tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %c = "tg.detach"(%s) : (tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  %c = tg.detach %s : tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %e = tg.detach %d : tensor<?xi8>
  // GENERIC: %e = "tg.detach"(%d) : (tensor<?xi8>) -> tensor<?xi8>
  %e = tg.detach %d : tensor<?xi8>
  func.return
}

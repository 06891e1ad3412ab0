// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<4x8xf32>, %s: tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %a = tg.flip %x [true, false] : tensor<4x8xf32>
  // GENERIC: %a = "tg.flip"(%x) <{flags = array<i1: true, false>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = tg.flip %x [true, false] : tensor<4x8xf32>
  // CHECK: %b = tg.flip %s [false, true] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %b = "tg.flip"(%s) <{flags = array<i1: false, true>}> : (tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>
  %b = tg.flip %s [false, true] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

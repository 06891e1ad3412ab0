// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%a: tensor<2x4xf32, #tg.place<"A">>, %b: tensor<2x4xf32, #tg.place<"B">>, %x: tensor<2xf32, #tg.place<"A", global>>, %y: tensor<2xf32, #tg.place<"B", global>>, %z: tensor<2xf32, #tg.place<"C", global>>) {
  // CHECK: %rows = tg_legacy.multi %a, %b axis 0 real [true, true] : (tensor<2x4xf32, #tg.place<"A">>, tensor<2x4xf32, #tg.place<"B">>) -> tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %rows = "tg_legacy.multi"(%a, %b) <{axis = #tg.number<0>, flags = array<i1: true, true>}> : (tensor<2x4xf32, #tg.place<"A">>, tensor<2x4xf32, #tg.place<"B">>) -> tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>
  %rows = tg_legacy.multi %a, %b axis 0 real [true, true] : (tensor<2x4xf32, #tg.place<"A">>, tensor<2x4xf32, #tg.place<"B">>) -> tensor<4x4xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %columns = tg_legacy.multi %a, %b axis 1 real [true, false] : (tensor<2x4xf32, #tg.place<"A">>, tensor<2x4xf32, #tg.place<"B">>) -> tensor<2x8xf32, #tg.place<["A", "B"], axis = 1>>
  // GENERIC: %columns = "tg_legacy.multi"(%a, %b) <{axis = #tg.number<1>, flags = array<i1: true, false>}> : (tensor<2x4xf32, #tg.place<"A">>, tensor<2x4xf32, #tg.place<"B">>) -> tensor<2x8xf32, #tg.place<["A", "B"], axis = 1>>
  %columns = tg_legacy.multi %a, %b axis 1 real [true, false] : (tensor<2x4xf32, #tg.place<"A">>, tensor<2x4xf32, #tg.place<"B">>) -> tensor<2x8xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %copies = tg_legacy.multi %x, %y, %z real [true, true, true] : (tensor<2xf32, #tg.place<"A", global>>, tensor<2xf32, #tg.place<"B", global>>, tensor<2xf32, #tg.place<"C", global>>) -> tensor<2xf32, #tg.place<["A", "B", "C"]>>
  // GENERIC: %copies = "tg_legacy.multi"(%x, %y, %z) <{flags = array<i1: true, true, true>}> : (tensor<2xf32, #tg.place<"A", global>>, tensor<2xf32, #tg.place<"B", global>>, tensor<2xf32, #tg.place<"C", global>>) -> tensor<2xf32, #tg.place<["A", "B", "C"]>>
  %copies = tg_legacy.multi %x, %y, %z real [true, true, true] : (tensor<2xf32, #tg.place<"A", global>>, tensor<2xf32, #tg.place<"B", global>>, tensor<2xf32, #tg.place<"C", global>>) -> tensor<2xf32, #tg.place<["A", "B", "C"]>>
  func.return
}

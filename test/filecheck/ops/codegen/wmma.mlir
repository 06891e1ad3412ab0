// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>, %x: tensor<8xf16>, %y: tensor<4xf16>, %z: tensor<4xf32>, %i: tensor<16x16xi8>, %j: tensor<16x8xi8>, %k: tensor<16x8xi32>, %m: tensor<16x8xf32, #tg.place<"CPU", global>>) {
  // CHECK: %matrix = tg.wmma %a, %b, %c config <16x8x16> : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  // GENERIC: %matrix = "tg.wmma"(%a, %b, %c) <{config = #tg.wmma<16x8x16>}> : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %matrix = tg.wmma %a, %b, %c config <16x8x16> : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>) -> tensor<16x8xf32>
  // CHECK: %fragment = tg.wmma %x, %y, %z config <16x8x16, threads = 32, a = ["k1", "k2", "m0", "m1", "m2", "k0", "m3", "k3"], b = ["k1", "k2", "n0", "n1", "n2", "k0", "k3"], c = ["n1", "n2", "m0", "m1", "m2", "n0", "m3"]> : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: %fragment = "tg.wmma"(%x, %y, %z) <{config = #tg.wmma<16x8x16, threads = 32, a = ["k1", "k2", "m0", "m1", "m2", "k0", "m3", "k3"], b = ["k1", "k2", "n0", "n1", "n2", "k0", "k3"], c = ["n1", "n2", "m0", "m1", "m2", "n0", "m3"]>}> : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
  %fragment = tg.wmma %x, %y, %z config <16x8x16, threads = 32, a = ["k1", "k2", "m0", "m1", "m2", "k0", "m3", "k3"], b = ["k1", "k2", "n0", "n1", "n2", "k0", "k3"], c = ["n1", "n2", "m0", "m1", "m2", "n0", "m3"]> : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %integer = tg.wmma %i, %j, %k config <16x8x16> : (tensor<16x16xi8>, tensor<16x8xi8>, tensor<16x8xi32>) -> tensor<16x8xi32>
  // GENERIC: %integer = "tg.wmma"(%i, %j, %k) <{config = #tg.wmma<16x8x16>}> : (tensor<16x16xi8>, tensor<16x8xi8>, tensor<16x8xi32>) -> tensor<16x8xi32>
  %integer = tg.wmma %i, %j, %k config <16x8x16> : (tensor<16x16xi8>, tensor<16x8xi8>, tensor<16x8xi32>) -> tensor<16x8xi32>
  // CHECK: %read = tg.wmma %a, %b, %m config <16x8x16> : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32, #tg.place<"CPU", global>>) -> tensor<16x8xf32, #tg.place<"CPU">>
  // GENERIC: %read = "tg.wmma"(%a, %b, %m) <{config = #tg.wmma<16x8x16>}> : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32, #tg.place<"CPU", global>>) -> tensor<16x8xf32, #tg.place<"CPU">>
  %read = tg.wmma %a, %b, %m config <16x8x16> : (tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32, #tg.place<"CPU", global>>) -> tensor<16x8xf32, #tg.place<"CPU">>
  func.return
}

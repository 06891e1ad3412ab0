// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<i32>, %y: tensor<4x1xui8>, %z: tensor<3xui8>, %n: tensor<index, #tg.place<"CPU">>, %m: tensor<index>) {
  // CHECK: %0 = tg_legacy.idiv %x, %x : tensor<i32>
  // GENERIC: %0 = "tg_legacy.idiv"(%x, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %0 = tg_legacy.idiv %x, %x : tensor<i32>
  // CHECK: %1 = tg_legacy.idiv %y, %z : (tensor<4x1xui8>, tensor<3xui8>) -> tensor<4x3xui8>
  // GENERIC: %1 = "tg_legacy.idiv"(%y, %z) : (tensor<4x1xui8>, tensor<3xui8>) -> tensor<4x3xui8>
  %1 = tg_legacy.idiv %y, %z : (tensor<4x1xui8>, tensor<3xui8>) -> tensor<4x3xui8>
  // CHECK: %2 = tg_legacy.idiv %n, %m : (tensor<index, #tg.place<"CPU">>, tensor<index>) -> tensor<index, #tg.place<"CPU">>
  // GENERIC: %2 = "tg_legacy.idiv"(%n, %m) : (tensor<index, #tg.place<"CPU">>, tensor<index>) -> tensor<index, #tg.place<"CPU">>
  %2 = tg_legacy.idiv %n, %m : (tensor<index, #tg.place<"CPU">>, tensor<index>) -> tensor<index, #tg.place<"CPU">>
  func.return
}

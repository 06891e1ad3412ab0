// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<i32>, %y: tensor<4x1xi64>, %z: tensor<3xi64>, %m: tensor<4xi32, #tg.place<"CPU", global>>) {
  // CHECK: %0 = tg_legacy.mod %x, %x : tensor<i32>
  // GENERIC: %0 = "tg_legacy.mod"(%x, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %0 = tg_legacy.mod %x, %x : tensor<i32>
  // CHECK: %1 = tg_legacy.mod %y, %z : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // GENERIC: %1 = "tg_legacy.mod"(%y, %z) : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  %1 = tg_legacy.mod %y, %z : (tensor<4x1xi64>, tensor<3xi64>) -> tensor<4x3xi64>
  // CHECK: %2 = tg_legacy.mod %m, %x : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<i32>) -> tensor<4xi32, #tg.place<"CPU">>
  // GENERIC: %2 = "tg_legacy.mod"(%m, %x) : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<i32>) -> tensor<4xi32, #tg.place<"CPU">>
  %2 = tg_legacy.mod %m, %x : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<i32>) -> tensor<4xi32, #tg.place<"CPU">>
  func.return
}

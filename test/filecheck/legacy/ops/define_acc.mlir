// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<f32>, %v: tensor<4xi32>, %zero: tensor<i32>, %n: tensor<i32>) {
  %i = tg_legacy.range 0 from %zero to %n : tensor<i32>
  %j = tg_legacy.loop from %zero to %n : tensor<i32>
  // CHECK: %0 = tg_legacy.define_acc 0 from %x : tensor<f32>
  // GENERIC: %0 = "tg_legacy.define_acc"(%x) <{number = #tg.number<0>}> : (tensor<f32>) -> tensor<f32>
  %0 = tg_legacy.define_acc 0 from %x : tensor<f32>
  // CHECK: %1 = tg_legacy.define_acc 1 from %v over %i : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // GENERIC: %1 = "tg_legacy.define_acc"(%v, %i) <{number = #tg.number<1>}> : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = tg_legacy.define_acc 1 from %v over %i : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  // CHECK: %2 = tg_legacy.define_acc 2 from %x over %i, %j : (tensor<f32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  // GENERIC: %2 = "tg_legacy.define_acc"(%x, %i, %j) <{number = #tg.number<2>}> : (tensor<f32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  %2 = tg_legacy.define_acc 2 from %x over %i, %j : (tensor<f32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  func.return
}

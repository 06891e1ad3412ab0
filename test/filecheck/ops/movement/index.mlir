// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// Of memory the result is a location in it.

func.func @f(%x: tensor<4x8xf32>, %m: tensor<4x8xf32, #tg.place<"CPU", global>>, %i: tensor<index>, %k: tensor<3xi32>, %s: tensor<5x4x6xf32, #tg.place<["A", "B"], axis = 1>>) {
  // CHECK: %row = tg.index %x[%i] : (tensor<4x8xf32>, tensor<index>) -> tensor<8xf32>
  // GENERIC: %row = "tg.index"(%x, %i) : (tensor<4x8xf32>, tensor<index>) -> tensor<8xf32>
  %row = tg.index %x[%i] : (tensor<4x8xf32>, tensor<index>) -> tensor<8xf32>
  // CHECK: %cell = tg.index %x[%i, %i] : (tensor<4x8xf32>, tensor<index>, tensor<index>) -> tensor<f32>
  // GENERIC: %cell = "tg.index"(%x, %i, %i) : (tensor<4x8xf32>, tensor<index>, tensor<index>) -> tensor<f32>
  %cell = tg.index %x[%i, %i] : (tensor<4x8xf32>, tensor<index>, tensor<index>) -> tensor<f32>
  // CHECK: %rows = tg.index %x[%k] : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  // GENERIC: %rows = "tg.index"(%x, %k) : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  %rows = tg.index %x[%k] : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  // CHECK: %some = tg.index %x[%i, %k] : (tensor<4x8xf32>, tensor<index>, tensor<3xi32>) -> tensor<3xf32>
  // GENERIC: %some = "tg.index"(%x, %i, %k) : (tensor<4x8xf32>, tensor<index>, tensor<3xi32>) -> tensor<3xf32>
  %some = tg.index %x[%i, %k] : (tensor<4x8xf32>, tensor<index>, tensor<3xi32>) -> tensor<3xf32>
  // CHECK: %all = tg.index %x[] : tensor<4x8xf32>
  // GENERIC: %all = "tg.index"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %all = tg.index %x[] : tensor<4x8xf32>
  // CHECK: %location = tg.index %m[%i, %i] : (tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<"CPU", global>>
  // GENERIC: %location = "tg.index"(%m, %i, %i) : (tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<"CPU", global>>
  %location = tg.index %m[%i, %i] : (tensor<4x8xf32, #tg.place<"CPU", global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<"CPU", global>>
  // CHECK: %sharded = tg.index %s[%i] : (tensor<5x4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<index>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %sharded = "tg.index"(%s, %i) : (tensor<5x4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<index>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %sharded = tg.index %s[%i] : (tensor<5x4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<index>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

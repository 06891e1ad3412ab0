// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// A REDUCE of the sharding axis has the result on each device; one of other axes keeps the axis.

func.func @reduce(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<2x9x5xf32, #tg.place<["A", "B", "C"], axis = 1>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>, %p: tensor<8x4xi1, #tg.place<["A", "B", "C", "D"], axis = 0>>) {
  // CHECK: %sharded = tg.reduce add %x [0] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x6xf32, #tg.place<["A", "B"]>>
  %sharded = tg.reduce add %x [0] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x6xf32, #tg.place<["A", "B"]>>
  // CHECK: %other = tg.reduce add %x [1] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>
  %other = tg.reduce add %x [1] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %both = tg.reduce mul %x [0, 1] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x1xf32, #tg.place<["A", "B"]>>
  %both = tg.reduce mul %x [0, 1] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x1xf32, #tg.place<["A", "B"]>>
  // CHECK: %none = tg.reduce max %x [] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %none = tg.reduce max %x [] : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %around = tg.reduce max %y [0, 2] : tensor<2x9x5xf32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<1x9x1xf32, #tg.place<["A", "B", "C"], axis = 1>>
  %around = tg.reduce max %y [0, 2] : tensor<2x9x5xf32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<1x9x1xf32, #tg.place<["A", "B", "C"], axis = 1>>
  // CHECK: %middle = tg.reduce max %y [2, 1] : tensor<2x9x5xf32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<2x1x1xf32, #tg.place<["A", "B", "C"]>>
  %middle = tg.reduce max %y [2, 1] : tensor<2x9x5xf32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<2x1x1xf32, #tg.place<["A", "B", "C"]>>
  // CHECK: %ordered = tg.reduce add %x [0] ordered : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x6xf32, #tg.place<["A", "B"]>>
  %ordered = tg.reduce add %x [0] ordered : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x6xf32, #tg.place<["A", "B"]>>
  // CHECK: %memory = tg.reduce add %m [0] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>> -> tensor<1x6xf32, #tg.place<["A", "B"], axis = 1>>
  %memory = tg.reduce add %m [0] : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>> -> tensor<1x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.reduce add %r [0] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<1x6xf32, #tg.place<["A", "B"]>>
  %replicated = tg.reduce add %r [0] : tensor<4x6xf32, #tg.place<["A", "B"]>> -> tensor<1x6xf32, #tg.place<["A", "B"]>>
  // CHECK: %bool = tg.reduce mul %p [0] : tensor<8x4xi1, #tg.place<["A", "B", "C", "D"], axis = 0>> -> tensor<1x4xi1, #tg.place<["A", "B", "C", "D"]>>
  %bool = tg.reduce mul %p [0] : tensor<8x4xi1, #tg.place<["A", "B", "C", "D"], axis = 0>> -> tensor<1x4xi1, #tg.place<["A", "B", "C", "D"]>>
  func.return
}

func.func @over_a_range(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) {
  %n = tg.const 4 : tensor<index>
  %i = tg.range 0 reduce to %n : tensor<index>
  // CHECK: %row = tg.index %x[%i] : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<index>) -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  %row = tg.index %x[%i] : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<index>) -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %rows = tg.reduce add %row [] over %i : tensor<6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  %rows = tg.reduce add %row [] over %i : tensor<6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %all = tg.reduce add %row [0] over %i : tensor<6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1xf32, #tg.place<["A", "B"]>>
  %all = tg.reduce add %row [0] over %i : tensor<6xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1xf32, #tg.place<["A", "B"]>>
  func.return
}

// REPLICATED drops the sharding axis, where each device has one entry.

func.func @replicated(%x: tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<4x3x6xi32, #tg.place<["A", "B", "C"], axis = 1>>, %z: tensor<5x4xf32, #tg.place<["A", "B", "C", "D"], axis = 1>>, %m: tensor<2x4xf32, #tg.place<["A", "B"], global, axis = 0>>) {
  // CHECK: %first = tg.replicated %x axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
  %first = tg.replicated %x axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
  // CHECK: %second = tg.replicated %y axis 1 : tensor<4x3x6xi32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<4x6xi32, #tg.place<["A", "B", "C"]>>
  %second = tg.replicated %y axis 1 : tensor<4x3x6xi32, #tg.place<["A", "B", "C"], axis = 1>> -> tensor<4x6xi32, #tg.place<["A", "B", "C"]>>
  // CHECK: %last = tg.replicated %z axis 1 : tensor<5x4xf32, #tg.place<["A", "B", "C", "D"], axis = 1>> -> tensor<5xf32, #tg.place<["A", "B", "C", "D"]>>
  %last = tg.replicated %z axis 1 : tensor<5x4xf32, #tg.place<["A", "B", "C", "D"], axis = 1>> -> tensor<5xf32, #tg.place<["A", "B", "C", "D"]>>
  // CHECK: %memory = tg.replicated %m axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
  %memory = tg.replicated %m axis 0 : tensor<2x4xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>
  // CHECK: %sharded = tg.copy %first to ["A", "B"] : tensor<4xf32, #tg.place<["A", "B"]>> -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  %sharded = tg.copy %first to ["A", "B"] : tensor<4xf32, #tg.place<["A", "B"]>> -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @axes(%x: tensor<4x8xf32>, %m: tensor<4x8xf32, #tg.place<"CPU", global>>, %b: tensor<4xi1>, %s: tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %sum = tg.reduce add %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  // GENERIC: %sum = "tg.reduce"(%x) <{op = #tg<reduce_kind add>, axes = array<i64: 1>}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %sum = tg.reduce add %x [1] : tensor<4x8xf32> -> tensor<4x1xf32>
  // CHECK: %max = tg.reduce max %x [0, 1] : tensor<4x8xf32> -> tensor<1x1xf32>
  // GENERIC: %max = "tg.reduce"(%x) <{op = #tg<reduce_kind max>, axes = array<i64: 0, 1>}> : (tensor<4x8xf32>) -> tensor<1x1xf32>
  %max = tg.reduce max %x [0, 1] : tensor<4x8xf32> -> tensor<1x1xf32>
  // CHECK: %prod = tg.reduce mul %x [] : tensor<4x8xf32> -> tensor<4x8xf32>
  // GENERIC: %prod = "tg.reduce"(%x) <{op = #tg<reduce_kind mul>, axes = array<i64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %prod = tg.reduce mul %x [] : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: %order = tg.reduce add %x [1] ordered {tag = 1 : i64} : tensor<4x8xf32> -> tensor<4x1xf32>
  // GENERIC: %order = "tg.reduce"(%x) <{op = #tg<reduce_kind add>, axes = array<i64: 1>, ordered}> {tag = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %order = tg.reduce add %x [1] ordered {tag = 1 : i64} : tensor<4x8xf32> -> tensor<4x1xf32>
  // CHECK: %relaxed = tg.reduce max %x [1] relaxed : tensor<4x8xf32> -> tensor<4x1xf32>
  // GENERIC: %relaxed = "tg.reduce"(%x) <{op = #tg<reduce_kind max>, axes = array<i64: 1>, relaxed}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %relaxed = tg.reduce max %x [1] relaxed : tensor<4x8xf32> -> tensor<4x1xf32>
  // CHECK: %read = tg.reduce add %m [0] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<1x8xf32, #tg.place<"CPU">>
  // GENERIC: %read = "tg.reduce"(%m) <{op = #tg<reduce_kind add>, axes = array<i64: 0>}> : (tensor<4x8xf32, #tg.place<"CPU", global>>) -> tensor<1x8xf32, #tg.place<"CPU">>
  %read = tg.reduce add %m [0] : tensor<4x8xf32, #tg.place<"CPU", global>> -> tensor<1x8xf32, #tg.place<"CPU">>
  // CHECK: %any = tg.reduce max %b [0] : tensor<4xi1> -> tensor<1xi1>
  // GENERIC: %any = "tg.reduce"(%b) <{op = #tg<reduce_kind max>, axes = array<i64: 0>}> : (tensor<4xi1>) -> tensor<1xi1>
  %any = tg.reduce max %b [0] : tensor<4xi1> -> tensor<1xi1>
  // CHECK: %kept = tg.reduce add %s [1] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %kept = "tg.reduce"(%s) <{op = #tg<reduce_kind add>, axes = array<i64: 1>}> : (tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>
  %kept = tg.reduce add %s [1] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %gone = tg.reduce add %s [0] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x8xf32, #tg.place<["A", "B"]>>
  // GENERIC: %gone = "tg.reduce"(%s) <{op = #tg<reduce_kind add>, axes = array<i64: 0>}> : (tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<1x8xf32, #tg.place<["A", "B"]>>
  %gone = tg.reduce add %s [0] : tensor<4x8xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<1x8xf32, #tg.place<["A", "B"]>>
  func.return
}

func.func @ranges(%n: tensor<index>) {
  %i = tg.range 0 reduce to %n : tensor<index>
  %j = tg.range 1 reduce to %n : tensor<index>
  %v = tg.mul %i, %j : tensor<index>
  // CHECK: %sum = tg.reduce add %v [] over %i, %j : tensor<index> -> tensor<index>
  // GENERIC: %sum = "tg.reduce"(%v, %i, %j) <{op = #tg<reduce_kind add>, axes = array<i64>}> : (tensor<index>, tensor<index>, tensor<index>) -> tensor<index>
  %sum = tg.reduce add %v [] over %i, %j : tensor<index> -> tensor<index>
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @dtypes(%i1: tensor<4xi1>) {
  // CHECK: %r_i1 = tg.not %i1 : tensor<4xi1>
  // GENERIC: %r_i1 = "tg.not"(%i1) : (tensor<4xi1>) -> tensor<4xi1>
  %r_i1 = tg.not %i1 : tensor<4xi1>
  func.return
}

func.func @shapes(%c: tensor<i1>, %m: tensor<4xi1, #tg.place<"CPU", global>>, %d: tensor<?xi1>, %s: tensor<4xi1, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %scalar = tg.not %c : tensor<i1>
  // GENERIC: %scalar = "tg.not"(%c) : (tensor<i1>) -> tensor<i1>
  %scalar = tg.not %c : tensor<i1>
  // CHECK: %read = tg.not %m : tensor<4xi1, #tg.place<"CPU", global>> -> tensor<4xi1, #tg.place<"CPU">>
  // GENERIC: %read = "tg.not"(%m) : (tensor<4xi1, #tg.place<"CPU", global>>) -> tensor<4xi1, #tg.place<"CPU">>
  %read = tg.not %m : tensor<4xi1, #tg.place<"CPU", global>> -> tensor<4xi1, #tg.place<"CPU">>
  // CHECK: %dynamic = tg.not %d : tensor<?xi1>
  // GENERIC: %dynamic = "tg.not"(%d) : (tensor<?xi1>) -> tensor<?xi1>
  %dynamic = tg.not %d : tensor<?xi1>
  // CHECK: %sharded = tg.not %s : tensor<4xi1, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %sharded = "tg.not"(%s) : (tensor<4xi1, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xi1, #tg.place<["A", "B"], axis = 0>>
  %sharded = tg.not %s : tensor<4xi1, #tg.place<["A", "B"], axis = 0>>
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @plain(%m: tensor<4x2xf32, #tg.place<"CPU", global>>, %v: tensor<4x2xf32>, %g: tensor<i1>, %gs: tensor<4x2xi1>) {
  // CHECK: %a = tg.store %m, %v : tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32>
  // GENERIC: %a = "tg.store"(%m, %v) : (tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32>) -> !tg.void
  %a = tg.store %m, %v : tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32>
  // CHECK: %b = tg.store %m, %v gate %g : tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32>, tensor<i1>
  // GENERIC: %b = "tg.store"(%m, %v, %g) : (tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32>, tensor<i1>) -> !tg.void
  %b = tg.store %m, %v gate %g : tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32>, tensor<i1>
  // CHECK: %c = tg.store %m, %v gate %gs : tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32>, tensor<4x2xi1>
  // GENERIC: %c = "tg.store"(%m, %v, %gs) : (tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32>, tensor<4x2xi1>) -> !tg.void
  %c = tg.store %m, %v gate %gs : tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32>, tensor<4x2xi1>
  // CHECK: %d = tg.store %m, %m : tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32, #tg.place<"CPU", global>>
  // GENERIC: %d = "tg.store"(%m, %m) : (tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32, #tg.place<"CPU", global>>) -> !tg.void
  %d = tg.store %m, %m : tensor<4x2xf32, #tg.place<"CPU", global>>, tensor<4x2xf32, #tg.place<"CPU", global>>
  func.return
}

func.func @views(%m: tensor<4x1xf32, #tg.place<"CPU", global>>, %v: tensor<4xf32>, %w: tensor<4x1xf32>) {
  %e = tg.expand %m [4, 3] : tensor<4x1xf32, #tg.place<"CPU", global>> -> tensor<4x3xf32, #tg.place<"CPU", global>>
  %s = tg.shrink %e at [0, 1] to [4, 1] : tensor<4x3xf32, #tg.place<"CPU", global>> -> tensor<4x1xf32, #tg.place<"CPU", global>>
  // CHECK: %a = tg.store %s, %w : tensor<4x1xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>
  // GENERIC: %a = "tg.store"(%s, %w) : (tensor<4x1xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>) -> !tg.void
  %a = tg.store %s, %w : tensor<4x1xf32, #tg.place<"CPU", global>>, tensor<4x1xf32>
  %one = tg.const 1 : tensor<index>
  %p = tg.permute %e [1, 0] : tensor<4x3xf32, #tg.place<"CPU", global>> -> tensor<3x4xf32, #tg.place<"CPU", global>>
  %i = tg.index %p[%one] : (tensor<3x4xf32, #tg.place<"CPU", global>>, tensor<index>) -> tensor<4xf32, #tg.place<"CPU", global>>
  // CHECK: %b = tg.store %i, %v : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  // GENERIC: %b = "tg.store"(%i, %v) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>) -> !tg.void
  %b = tg.store %i, %v : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  func.return
}

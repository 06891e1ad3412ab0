// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%m: tensor<4xf32, #tg.place<"CPU", global>>, %v: tensor<f32>, %n: tensor<index>) {
  %i = tg.range 0 loop to %n : tensor<index>
  %j = tg.range 1 loop to %n : tensor<index>
  %ij = tg.add %i, %j : tensor<index>
  %p = tg.index %m[%ij] : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<index>) -> tensor<f32, #tg.place<"CPU", global>>
  %s = tg.store %p, %v : tensor<f32, #tg.place<"CPU", global>>, tensor<f32>
  // CHECK: %e = tg.end %s over %j, %i : !tg.void
  // GENERIC: %e = "tg.end"(%s, %j, %i) : (!tg.void, tensor<index>, tensor<index>) -> !tg.void
  %e = tg.end %s over %j, %i : !tg.void
  %k = tg.range 2 loop to %n : tensor<index>
  // CHECK: %t = tg.end %k over %k : tensor<index>
  // GENERIC: %t = "tg.end"(%k, %k) : (tensor<index>, tensor<index>) -> !tg.void
  %t = tg.end %k over %k : tensor<index>
  %outer = tg.range 3 loop to %n : tensor<index>
  %inner = tg.range 4 loop to %outer : tensor<index>
  // CHECK: %u = tg.end %inner over %inner, %outer : tensor<index>
  // GENERIC: %u = "tg.end"(%inner, %inner, %outer) : (tensor<index>, tensor<index>, tensor<index>) -> !tg.void
  %u = tg.end %inner over %inner, %outer : tensor<index>
  func.return
}

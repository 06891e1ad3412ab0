// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%m: tensor<f32, #tg.place<"CPU", global>>, %v: tensor<f32>, %w: tensor<4xi32, #tg.place<"CPU", global>>, %u: tensor<4xi32>) {
  // CHECK: %a = tg.atomicadd %m, %v : tensor<f32, #tg.place<"CPU", global>>, tensor<f32>
  // GENERIC: %a = "tg.atomicadd"(%m, %v) : (tensor<f32, #tg.place<"CPU", global>>, tensor<f32>) -> !tg.void
  %a = tg.atomicadd %m, %v : tensor<f32, #tg.place<"CPU", global>>, tensor<f32>
  // CHECK: %b = tg.atomicadd %w, %u : tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32>
  // GENERIC: %b = "tg.atomicadd"(%w, %u) : (tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32>) -> !tg.void
  %b = tg.atomicadd %w, %u : tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32>
  func.return
}

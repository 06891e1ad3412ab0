// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @memory(%m: tensor<4xf32, #tg.place<"CPU", global>>, %x: tensor<4xf32>) {
  // CHECK: %value = tg_legacy.assign %m, %x : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU", global>>
  // GENERIC: %value = "tg_legacy.assign"(%m, %x) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU", global>>
  %value = tg_legacy.assign %m, %x : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU", global>>
  %k = tg_legacy.kernel "k"(%m) {
    %r = tg.sink
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.void
  // CHECK: %written = tg_legacy.assign %m, %k : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  // GENERIC: %written = "tg_legacy.assign"(%m, %k) : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  %written = tg_legacy.assign %m, %k : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

func.func @accumulator(%init: tensor<f32>, %x: tensor<f32>) {
  %acc = tg_legacy.define_acc 0 from %init : tensor<f32>
  %sum = tg.add %acc, %x : tensor<f32>
  // CHECK: %once = tg_legacy.assign %acc, %sum : tensor<f32>
  // GENERIC: %once = "tg_legacy.assign"(%acc, %sum) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %once = tg_legacy.assign %acc, %sum : tensor<f32>
  // CHECK: %twice = tg_legacy.assign %once, %x : tensor<f32>
  // GENERIC: %twice = "tg_legacy.assign"(%once, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %twice = tg_legacy.assign %once, %x : tensor<f32>
  func.return
}

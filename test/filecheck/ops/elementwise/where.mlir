// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%p: tensor<4x1xi1>, %a: tensor<3xf32>, %b: tensor<f32>, %q: tensor<i1>, %m: tensor<3xf32, #tg.place<"CPU", global>>, %s: tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) {
  // CHECK: %x = tg.where %p, %a, %b : (tensor<4x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<4x3xf32>
  // GENERIC: %x = "tg.where"(%p, %a, %b) : (tensor<4x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %x = tg.where %p, %a, %b : (tensor<4x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<4x3xf32>
  // CHECK: %y = tg.where %q, %q, %q : tensor<i1>
  // GENERIC: %y = "tg.where"(%q, %q, %q) : (tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<i1>
  %y = tg.where %q, %q, %q : tensor<i1>
  // CHECK: %z = tg.where %q, %m, %a : (tensor<i1>, tensor<3xf32, #tg.place<"CPU", global>>, tensor<3xf32>) -> tensor<3xf32, #tg.place<"CPU">>
  // GENERIC: %z = "tg.where"(%q, %m, %a) : (tensor<i1>, tensor<3xf32, #tg.place<"CPU", global>>, tensor<3xf32>) -> tensor<3xf32, #tg.place<"CPU">>
  %z = tg.where %q, %m, %a : (tensor<i1>, tensor<3xf32, #tg.place<"CPU", global>>, tensor<3xf32>) -> tensor<3xf32, #tg.place<"CPU">>
  // CHECK: %w = tg.where %q, %b, %s : (tensor<i1>, tensor<f32>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  // GENERIC: %w = "tg.where"(%q, %b, %s) : (tensor<i1>, tensor<f32>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  %w = tg.where %q, %b, %s : (tensor<i1>, tensor<f32>, tensor<4xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4xf32, #tg.place<["A", "B"], axis = 0>>
  func.return
}

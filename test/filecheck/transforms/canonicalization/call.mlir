// RUN: tg-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: @tuple
// CHECK-NEXT: func.return %y
func.func @tuple(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = tg.tuple %x, %y : (tensor<4xf32>, tensor<f32>) -> !tg.tuple<tensor<4xf32>, tensor<f32>>
  %1 = tg.gettuple %0 1 : !tg.tuple<tensor<4xf32>, tensor<f32>> -> tensor<f32>
  return %1 : tensor<f32>
}

// The second element is the argument itself, the first is not.
// CHECK-LABEL: @function
// CHECK-NEXT: %0 = tg.function(%x, %y)
// CHECK: %1 = tg.gettuple %0 0
// CHECK-NEXT: func.return %1, %x
func.func @function(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = tg.function(%x, %y) {
    %p = tg.param 0 : tensor<f32>
    %q = tg.param 1 : tensor<f32>
    %s = tg.add %p, %q : tensor<f32>
    %t = tg.tuple %s, %p : (tensor<f32>, tensor<f32>) -> !tg.tuple<tensor<f32>, tensor<f32>>
  } : (tensor<f32>, tensor<f32>) -> !tg.tuple<tensor<f32>, tensor<f32>>
  %1 = tg.gettuple %0 0 : !tg.tuple<tensor<f32>, tensor<f32>> -> tensor<f32>
  %2 = tg.gettuple %0 1 : !tg.tuple<tensor<f32>, tensor<f32>> -> tensor<f32>
  return %1, %2 : tensor<f32>, tensor<f32>
}

// A parameter that nothing uses keeps its slot.
// CHECK-LABEL: @kernel
// CHECK: tg.param 0
// CHECK-NEXT: tg.param 1
tg.kernel @kernel {
  %0 = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %1 = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %2 = tg.sink %1 : tensor<4xf32, #tg.place<global>>
}

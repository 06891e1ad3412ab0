// RUN: tg-opt %s -p tg-error-bound --split-input-file | filecheck %s

// A maximum of what is loaded has no error: the bound is 0, and nothing computes it.
// CHECK-LABEL: @exact
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf64>)
func.func @exact(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %0 = tg.max %x, %y : tensor<4xf32>
  // CHECK-NEXT: %1 = tg.const 0.000000e+00 : tensor<f64>
  // CHECK-NOT: tg.mul
  // CHECK: func.return %0,
  %0 = tg.max %x, %y : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// The terms of a sum of 3 count with gamma_4 = 4 u / (1 - 4 u), where u is 2^-24.
// CHECK-LABEL: @sum
func.func @sum(%x: tensor<3xf32>) -> tensor<1xf32> {
  // CHECK: tg.reduce add %x [0] : tensor<3xf32> -> tensor<1xf32>
  // CHECK: [[SIZE:%.*]] = tg.max
  // CHECK: [[GAMMA:%.*]] = tg.const 2.3841863594499491e-07 : tensor<f64>
  // CHECK: tg.mul [[SIZE]], [[GAMMA]]
  // CHECK: tg.reduce add {{.*}} [0] : tensor<3xf64> -> tensor<1xf64>
  %0 = tg.reduce add %x [0] : tensor<3xf32> -> tensor<1xf32>
  func.return %0 : tensor<1xf32>
}

// -----

// A kernel stores the bounds to PARAMs at the end, in the same loops.
// CHECK-LABEL: tg.kernel @k
tg.kernel @k {
  // CHECK: tg.param 0 : tensor<4xf32, #tg.place<global>>
  // CHECK-NEXT: [[BOUNDS:%.*]] = tg.param 1 : tensor<4xf64, #tg.place<global>>
  %0 = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %1 = tg.const 4 : tensor<index>
  %2 = tg.range 0 loop to %1 : tensor<index>
  // CHECK: [[RANGE:%.*]] = tg.range 0
  // CHECK: [[AT:%.*]] = tg.index [[BOUNDS]]{{.}}[[RANGE]]]
  %3 = tg.index %0[%2] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %4 = tg.load %3 : tensor<f32, #tg.place<global>> -> tensor<f32>
  %5 = tg.mul %4, %4 : tensor<f32>
  // CHECK: [[STORED:%.*]] = tg.store %{{.*}} : tensor<f32,
  // CHECK: [[BOUND:%.*]] = tg.store [[AT]], %{{.*}} : tensor<f64,
  // CHECK: [[BOTH:%.*]] = tg.group [[STORED]], [[BOUND]]
  // CHECK: tg.end [[BOTH]] over [[RANGE]]
  %6 = tg.store %3, %5 : tensor<f32, #tg.place<global>>, tensor<f32>
  %7 = tg.end %6 over %2 : !tg.void
  %8 = tg.sink %7 : !tg.void
}

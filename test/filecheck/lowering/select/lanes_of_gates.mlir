// RUN: tg-opt %s -p tg-select | filecheck %s

// The gate says of each lane that its row is less than n, so that 8 times the row plus 7 is less than 8 times n: no access is checked again.
// CHECK-LABEL: tg.kernel @rows
// CHECK-COUNT-4: tg.cmplt
// CHECK-NOT: tg.cmplt
// CHECK-NOT: tg.and

// Nor one at the row before, where the gate says that there is one.
// CHECK-LABEL: tg.kernel @before
// CHECK-COUNT-5: tg.cmplt
// CHECK-NOT: tg.cmpge
// CHECK: tg.sink

// Rows that are 2 more are checked.
// CHECK-LABEL: tg.kernel @beyond
// CHECK: tg.and
builtin.module attributes {tg.target = #tg.target<"cpu", features = ["avx512f"]>} {
tg.kernel @rows {
  %n = tg.param 0 min 1 max 1024 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %c7 = tg.const 7 : tensor<index>
  %cells = tg.mul %n, %c8 : tensor<index>
  %out = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %x = tg.param 2(%cells) : tensor<?xf32, #tg.place<global>>
  %i = tg.param 3 min 0 max 1024 : tensor<index>
  %lanes = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
  %row = tg.add %i, %lanes : (tensor<index>, tensor<4xindex>) -> tensor<4xindex>
  %gate = tg.cmplt %row, %n : (tensor<4xindex>, tensor<index>) -> tensor<4xi1>
  %first = tg.mul %row, %c8 : (tensor<4xindex>, tensor<index>) -> tensor<4xindex>
  %cell = tg.add %first, %c7 : (tensor<4xindex>, tensor<index>) -> tensor<4xindex>
  %at = tg.index %x[%cell] : (tensor<?xf32, #tg.place<global>>, tensor<4xindex>) -> tensor<4xf32, #tg.place<global>>
  %zero1 = tg.const 0.0 : tensor<f32>
  %zero2 = tg.reshape %zero1 [1] : tensor<f32> -> tensor<1xf32>
  %zero = tg.expand %zero2 [4] : tensor<1xf32> -> tensor<4xf32>
  %value = tg.load %at alt %zero gate %gate : tensor<4xf32, #tg.place<global>>, tensor<4xf32>, tensor<4xi1> -> tensor<4xf32>
  %to = tg.index %out[%lanes] : (tensor<4xf32, #tg.place<global>>, tensor<4xindex>) -> tensor<4xf32, #tg.place<global>>
  %st = tg.store %to, %value : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
  %sink = tg.sink %st : !tg.void
}
tg.kernel @before {
  %n = tg.param 0 min 1 max 1024 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %c8m = tg.const -8 : tensor<index>
  %cells = tg.mul %n, %c8 : tensor<index>
  %out = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %x = tg.param 2(%cells) : tensor<?xf32, #tg.place<global>>
  %i = tg.param 3 min 0 max 1024 : tensor<index>
  %lanes = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
  %row = tg.add %i, %lanes : (tensor<index>, tensor<4xindex>) -> tensor<4xindex>
  %c0 = tg.const 0 : tensor<index>
  %below = tg.cmplt %row, %n : (tensor<4xindex>, tensor<index>) -> tensor<4xi1>
  %above = tg.cmplt %c0, %row : (tensor<index>, tensor<4xindex>) -> tensor<4xi1>
  %gate = tg.and %below, %above : tensor<4xi1>
  %first = tg.mul %row, %c8 : (tensor<4xindex>, tensor<index>) -> tensor<4xindex>
  %cell = tg.add %first, %c8m : (tensor<4xindex>, tensor<index>) -> tensor<4xindex>
  %at = tg.index %x[%cell] : (tensor<?xf32, #tg.place<global>>, tensor<4xindex>) -> tensor<4xf32, #tg.place<global>>
  %zero1 = tg.const 0.0 : tensor<f32>
  %zero2 = tg.reshape %zero1 [1] : tensor<f32> -> tensor<1xf32>
  %zero = tg.expand %zero2 [4] : tensor<1xf32> -> tensor<4xf32>
  %value = tg.load %at alt %zero gate %gate : tensor<4xf32, #tg.place<global>>, tensor<4xf32>, tensor<4xi1> -> tensor<4xf32>
  %to = tg.index %out[%lanes] : (tensor<4xf32, #tg.place<global>>, tensor<4xindex>) -> tensor<4xf32, #tg.place<global>>
  %st = tg.store %to, %value : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
  %sink = tg.sink %st : !tg.void
}
tg.kernel @beyond {
  %n = tg.param 0 min 1 max 1024 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %c23 = tg.const 23 : tensor<index>
  %cells = tg.mul %n, %c8 : tensor<index>
  %out = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %x = tg.param 2(%cells) : tensor<?xf32, #tg.place<global>>
  %i = tg.param 3 min 0 max 1024 : tensor<index>
  %lanes = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
  %row = tg.add %i, %lanes : (tensor<index>, tensor<4xindex>) -> tensor<4xindex>
  %gate = tg.cmplt %row, %n : (tensor<4xindex>, tensor<index>) -> tensor<4xi1>
  %first = tg.mul %row, %c8 : (tensor<4xindex>, tensor<index>) -> tensor<4xindex>
  %cell = tg.add %first, %c23 : (tensor<4xindex>, tensor<index>) -> tensor<4xindex>
  %at = tg.index %x[%cell] : (tensor<?xf32, #tg.place<global>>, tensor<4xindex>) -> tensor<4xf32, #tg.place<global>>
  %zero1 = tg.const 0.0 : tensor<f32>
  %zero2 = tg.reshape %zero1 [1] : tensor<f32> -> tensor<1xf32>
  %zero = tg.expand %zero2 [4] : tensor<1xf32> -> tensor<4xf32>
  %value = tg.load %at alt %zero gate %gate : tensor<4xf32, #tg.place<global>>, tensor<4xf32>, tensor<4xi1> -> tensor<4xf32>
  %to = tg.index %out[%lanes] : (tensor<4xf32, #tg.place<global>>, tensor<4xindex>) -> tensor<4xf32, #tg.place<global>>
  %st = tg.store %to, %value : tensor<4xf32, #tg.place<global>>, tensor<4xf32>
  %sink = tg.sink %st : !tg.void
}
}

// RUN: tg-opt %s -p 'tg-callify,tg-rangeify' | filecheck %s

// INDEX by computed indices: one that is out of bounds reads 0.

// CHECK-LABEL: tg.kernel @main_0
// CHECK-NEXT: %out0 = tg.param 0 : tensor<2x3xf32, #tg.place<global>>
// CHECK-NEXT: %[[V0:.*]] = tg.const 2 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.range 0 loop to %[[V0]] : tensor<index>
// CHECK-NEXT: %[[V2:.*]] = tg.const 3 : tensor<index>
// CHECK-NEXT: %[[V3:.*]] = tg.range 1 loop to %[[V2]] : tensor<index>
// CHECK-NEXT: %i = tg.param 1 : tensor<2xi32, #tg.place<global>>
// CHECK-NEXT: %[[V4:.*]] = tg.index %i[%[[V1]]] : (tensor<2xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
// CHECK-NEXT: %[[V5:.*]] = tg.load %[[V4]] : tensor<i32, #tg.place<global>> -> tensor<i32>
// CHECK-NEXT: %[[V6:.*]] = tg.cast %[[V5]] to index : tensor<i32> -> tensor<index>
// CHECK-NEXT: %[[V7:.*]] = tg.const -1 : tensor<index>
// CHECK-NEXT: %[[V8:.*]] = tg.cmplt %[[V7]], %[[V6]] : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: %[[V9:.*]] = tg.const 5 : tensor<index>
// CHECK-NEXT: %[[V10:.*]] = tg.cmplt %[[V6]], %[[V9]] : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: %[[V11:.*]] = tg.and %[[V8]], %[[V10]] : tensor<i1>
// CHECK-NEXT: %x = tg.param 2 : tensor<5x3xf32, #tg.place<global>>
// CHECK-NEXT: %[[V12:.*]] = tg.index %x[%[[V6]], %[[V3]]] : (tensor<5x3xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT: %[[V13:.*]] = tg.load %[[V12]] : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT: %[[V14:.*]] = tg.const 0.000000e+00 : tensor<f32>
// CHECK-NEXT: %[[V15:.*]] = tg.where %[[V11]], %[[V13]], %[[V14]] : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V16:.*]] = tg.index %out0[%[[V1]], %[[V3]]] : (tensor<2x3xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT: %[[V17:.*]] = tg.store %[[V16]], %[[V15]] : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT: %[[V18:.*]] = tg.end %[[V17]] over %[[V3]], %[[V1]] : !tg.void
// CHECK-NEXT: %[[V19:.*]] = tg.sink %[[V18]] : !tg.void
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[V0:.*]] = tg.call @main_0(%out0, %i, %x) : (tensor<2x3xf32, #tg.place<"CPU", global>>, tensor<2xi32, #tg.place<"CPU", global>>, tensor<5x3xf32, #tg.place<"CPU", global>>) -> !tg.void
// CHECK-NEXT: %[[V1:.*]] = tg.sink %[[V0]] : !tg.void
// CHECK-NEXT: func.return

func.func @main(%x: tensor<5x3xf32>, %i: tensor<2xi32>) -> tensor<2x3xf32> {
  %0 = tg.index %x[%i] : (tensor<5x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

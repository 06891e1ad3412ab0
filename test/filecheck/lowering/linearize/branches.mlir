// RUN: tg-opt %s -p 'tg-select,tg-linearize,tg-verify{level=linear}' | filecheck %s
// RUN: tg-opt %s -p 'tg-select{target=nvidia:sm_90},tg-linearize,tg-verify{level=linear}' | filecheck %s --check-prefix=GRID

// Large angles of a sine take some 40 ops, which are skipped where there is none. What is computed for all
// angles is stored before the IF. A grid computes both.

// CHECK-LABEL: tg.program @sine
// CHECK:         %[[R:.*]] = tg.index %{{.*}} -> tensor<f32, #tg.place<reg>>
// CHECK:         %[[T:.*]] = tg.index %{{.*}} -> tensor<f32, #tg.place<reg>>
// CHECK:         %[[Q:.*]] = tg.index %{{.*}} -> tensor<ui32, #tg.place<reg>>
// CHECK:         %[[NEAR:.*]] = tg.cmplt %{{.*}} -> tensor<i1>
// CHECK-NEXT:    tg.store %[[R]], %[[X:.*]] :
// CHECK-NEXT:    tg.store %[[T]], %[[REST:.*]] :
// CHECK-NEXT:    tg.store %[[Q]], %[[N:.*]] :
// CHECK-NEXT:    %[[FAR:.*]] = tg.not %[[NEAR]] : tensor<i1>
// CHECK-NEXT:    %[[IF:.*]] = tg.if %[[FAR]] : tensor<i1>
// CHECK:         tg.cast %{{.*}} to ui64
// CHECK:         %[[X2:.*]] = tg.where %[[NEAR]], %[[X]], %{{.*}} :
// CHECK:         %[[REST2:.*]] = tg.where %[[NEAR]], %[[REST]], %{{.*}} :
// CHECK:         %[[N2:.*]] = tg.where %[[NEAR]], %[[N]], %{{.*}} :
// CHECK-NEXT:    tg.store %[[R]], %[[X2]] :
// CHECK-NEXT:    tg.store %[[T]], %[[REST2]] :
// CHECK-NEXT:    tg.store %[[Q]], %[[N2]] :
// CHECK-NEXT:    tg.endif %[[IF]]
// CHECK-NEXT:    tg.load %[[R]] :
// CHECK-NEXT:    tg.load %[[T]] :
// CHECK-NEXT:    tg.load %[[Q]] :

// GRID-LABEL: tg.program @sine
// GRID-NOT:     tg.if
tg.kernel @sine {
  %o = tg.param 0 : tensor<100xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<100xf32, #tg.place<global>>
  %n = tg.const 100 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %from = tg.index %p[%i] : (tensor<100xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %x = tg.load %from : tensor<f32, #tg.place<global>> -> tensor<f32>
  %y = tg.sin %x : tensor<f32>
  %to = tg.index %o[%i] : (tensor<100xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %to, %y : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %k = tg.sink %e : !tg.void
}

// The alternatives of a clamp are short.

// CHECK-LABEL: tg.program @short
// CHECK-NOT:     tg.if
tg.kernel @short {
  %o = tg.param 0 : tensor<100xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<100xf32, #tg.place<global>>
  %n = tg.const 100 : tensor<index>
  %zero = tg.const 0.0 : tensor<f32>
  %i = tg.range 0 loop to %n : tensor<index>
  %from = tg.index %p[%i] : (tensor<100xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %x = tg.load %from : tensor<f32, #tg.place<global>> -> tensor<f32>
  %c = tg.cmplt %x, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %square = tg.mul %x, %x : tensor<f32>
  %y = tg.where %c, %square, %x : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %to = tg.index %o[%i] : (tensor<100xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %to, %y : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %k = tg.sink %e : !tg.void
}

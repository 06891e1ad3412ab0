// RUN: tg-opt %s -p tg-linearize | filecheck %s

// A gated STORE is inside an IF; those under one gate that follow each other share it. A gate per
// lane stays on the STORE.

// CHECK-LABEL: tg.program @gated
// CHECK:         [[IF:%.*]] = tg.if %g
// CHECK-NEXT:    tg.store %al, %one : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT:    tg.store %bl, %one : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT:    [[ENDIF:%.*]] = tg.endif [[IF]]
// CHECK-NEXT:    [[IF:%.*]] = tg.if %h
// CHECK-NEXT:    tg.store %cl, %one
// CHECK-NEXT:    tg.endif [[IF]]
// CHECK-NEXT:    tg.sink
tg.kernel @gated {
  %a = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %b = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %n = tg.param 2 : tensor<index>
  %m = tg.param 3 : tensor<index>
  %one = tg.const 1.0 : tensor<f32>
  %g = tg.cmplt %n, %m : (tensor<index>, tensor<index>) -> tensor<i1>
  %h = tg.cmplt %m, %n : (tensor<index>, tensor<index>) -> tensor<i1>
  %al = tg.index %a[%n] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %bl = tg.index %b[%n] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %cl = tg.index %a[%m] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s0 = tg.store %al, %one gate %g : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>
  %s1 = tg.store %bl, %one gate %g : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>
  %s2 = tg.store %cl, %one gate %h : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>
  tg.sink %s0, %s1, %s2 : !tg.void, !tg.void, !tg.void
}

// CHECK-LABEL: tg.program @per_lane
// CHECK-NOT:     tg.if
// CHECK:         tg.store %o, %x gate %g
tg.kernel @per_lane {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %m = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %x = tg.load %m : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>
  %g = tg.cmpne %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s = tg.store %o, %x gate %g : tensor<4xf32, #tg.place<global>>, tensor<4xf32>, tensor<4xi1>
  tg.sink %s : !tg.void
}

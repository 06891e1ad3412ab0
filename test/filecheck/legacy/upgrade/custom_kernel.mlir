// RUN: tg-opt %s -p 'tg-upgrade-legacy' | filecheck %s

// CUSTOM in a kernel, and a BUFFER of today: the value is stored before it is read.

// CHECK-LABEL: tg.kernel @k
// CHECK-NEXT: %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
// CHECK-NEXT: %a = tg.param 1 : tensor<4xf32, #tg.place<global>>
// CHECK-NEXT: %t = tg.buffer 0 : tensor<4xf32, #tg.place<local>>
// CHECK-NEXT: %[[V0:.*]] = tg.const 4 : tensor<index>
// CHECK-NEXT: %i = tg.range 0 loop to %[[V0]] : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.index %a[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT: %x = tg.load %[[V1]] : tensor<f32, #tg.place<global>> -> tensor<f32>
// CHECK-NEXT: %y = tg.custom "f({0})"(%x) : tensor<f32>
// CHECK-NEXT: %[[V2:.*]] = tg.index %t[%i] : (tensor<4xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
// CHECK-NEXT: %s = tg.store %[[V2]], %y : tensor<f32, #tg.place<local>>, tensor<f32>
// CHECK-NEXT: %[[V3:.*]] = tg.after %t, %s : (tensor<4xf32, #tg.place<local>>, !tg.void) -> tensor<4xf32, #tg.place<local>>
// CHECK-NEXT: %[[V4:.*]] = tg.index %[[V3]][%i] : (tensor<4xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
// CHECK-NEXT: %z = tg.load %[[V4]] : tensor<f32, #tg.place<local>> -> tensor<f32>
// CHECK-NEXT: %[[V5:.*]] = tg.index %o[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
// CHECK-NEXT: %u = tg.store %[[V5]], %z : tensor<f32, #tg.place<global>>, tensor<f32>
// CHECK-NEXT: %[[V6:.*]] = tg.group %s, %u
// CHECK-NEXT: %[[V7:.*]] = tg.end %[[V6]] over %i : !tg.void
// CHECK-NEXT: %[[V8:.*]] = tg.sink %[[V7]] : !tg.void
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[V0:.*]] = tg.call @k(%o, %a) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
// CHECK-NEXT: %[[V1:.*]] = tg.sink %[[V0]] : !tg.void
// CHECK-NEXT: func.return

tg.program @k {
  %l = tg.linear {
    %o = tg_legacy.define_global 0 : tensor<4xf32, #tg.place<global>>
    %a = tg_legacy.define_global 1 : tensor<4xf32, #tg.place<global>>
    %t = tg.buffer 0 : tensor<4xf32, #tg.place<local>>
    %c0 = tg.const 0 : tensor<i32>
    %c4 = tg.const 4 : tensor<i32>
    %i = tg_legacy.range 0 from %c0 to %c4 : tensor<i32>
    %x = tg_legacy.load %a at %i : tensor<4xf32, #tg.place<global>> at tensor<i32> -> tensor<f32>
    %y = tg_legacy.custom "f({0})"(%x) : tensor<f32>
    %s = tg_legacy.store %t at %i value %y : tensor<4xf32, #tg.place<local>> at tensor<i32> value tensor<f32>
    %z = tg_legacy.load %t at %i : tensor<4xf32, #tg.place<local>> at tensor<i32> -> tensor<f32>
    %u = tg_legacy.store %o at %i value %z : tensor<4xf32, #tg.place<global>> at tensor<i32> value tensor<f32>
    %e = tg_legacy.endrange %i : tensor<i32>
  }
}

// RUN: tg-opt %s -p tg-expand --verify-each=true | filecheck %s

// A gate and an `alt` have the shape of the location; a gate of the whole tile stays ().

// CHECK-LABEL: tg.kernel @masked
tg.kernel @masked {
  %o = tg.param 0 : tensor<2x4xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %n = tg.param 2 "n" min 1 max 4 : tensor<index>
  %c2 = tg.const 2 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %zero = tg.const 0.0 : tensor<f32>
  %i = tg.range 0 upcast to %c2 : tensor<index>
  %j = tg.range 1 upcast to %c4 : tensor<index>
  %g = tg.cmplt %i, %n : (tensor<index>, tensor<index>) -> tensor<i1>
  %xl = tg.index %x[%j] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl alt %zero gate %g : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1> -> tensor<f32>
  // CHECK:      %g = tg.cmplt %i, %n : {{.*}} -> tensor<2xi1>
  // CHECK:      %xl = tg.index %x[%j] : {{.*}} -> tensor<4xf32, #tg.place<global>>
  // CHECK:      [[L:%.*]] = tg.expand %{{.*}} [2, 4] : tensor<1x4xf32, #tg.place<global>> -> tensor<2x4xf32, #tg.place<global>>
  // CHECK:      [[ALT:%.*]] = tg.expand %{{.*}} [2, 4] : tensor<1x1xf32> -> tensor<2x4xf32>
  // CHECK:      [[G:%.*]] = tg.expand %{{.*}} [2, 4] : tensor<2x1xi1> -> tensor<2x4xi1>
  // CHECK-NEXT: %xv = tg.load [[L]] alt [[ALT]] gate [[G]] : {{.*}} -> tensor<2x4xf32>
  %ol = tg.index %o[%i, %j] : (tensor<2x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %h = tg.cmplt %c2, %n : (tensor<index>, tensor<index>) -> tensor<i1>
  %s = tg.store %ol, %xv gate %h : tensor<f32, #tg.place<global>>, tensor<f32>, tensor<i1>
  // CHECK:      tg.store %ol, %xv gate %h : tensor<2x4xf32, #tg.place<global>>, tensor<2x4xf32>, tensor<i1>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e : !tg.void
}

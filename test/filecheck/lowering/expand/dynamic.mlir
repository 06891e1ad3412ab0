// RUN: tg-opt %s -p tg-expand --verify-each=true | filecheck %s

// Loops may have dynamic bounds; reductions nest.

// CHECK-LABEL: tg.kernel @nested
tg.kernel @nested {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %n = tg.param 2 "n" min 1 max 8 : tensor<index>
  %x = tg.param 1 (%n) : tensor<?x4xf32, #tg.place<global>>
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 reduce to %n : tensor<index>
  %j = tg.range 1 reduce to %c4 : tensor<index>
  %xl = tg.index %x[%i, %j] : (tensor<?x4xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %max = tg.reduce max %xv [] over %j : tensor<f32> -> tensor<f32>
  %sum = tg.reduce add %max [] over %i : tensor<f32> -> tensor<f32>
  %s = tg.store %o, %sum : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
  // CHECK:      %i = tg.range 0 reduce to %n
  // CHECK:      [[MAX:%.*]] = tg.buffer 0
  // CHECK-NEXT: tg.after [[MAX]], %i :
  // CHECK:      tg.end %{{.*}} over %j
  // CHECK:      %max = tg.load
  // CHECK:      [[SUM:%.*]] = tg.buffer 1
  // CHECK:      [[INIT:%.*]] = tg.store [[SUM]]
  // CHECK-NEXT: tg.after [[SUM]], [[INIT]], %i :
  // CHECK:      tg.add %{{.*}}, %max
  // CHECK:      tg.end %{{.*}} over %i
  // CHECK:      %sum = tg.load
}

// RUN: tg-opt %s -p tg-expand --verify-each=true | filecheck %s
// RUN: tg-opt %s -p tg-expand,tg-select | filecheck %s --check-prefix=SELECT

// A step of a relaxed maximum keeps the total where it does not compare with the element. That is
// what the instruction for a maximum does on x86. With nothing but lanes it stays a REDUCE, of
// which tg-select makes the same steps.

// CHECK-LABEL: tg.kernel @relaxed
tg.kernel @relaxed {
  %o = tg.param 0 : tensor<f32, #tg.place<global>>
  %x = tg.param 1 : tensor<8x3xf32, #tg.place<global>>
  %c8 = tg.const 8 : tensor<index>
  %c3 = tg.const 3 : tensor<index>
  %k = tg.range 0 reduce to %c8 : tensor<index>
  %u = tg.range 1 unroll to %c3 : tensor<index>
  %xl = tg.index %x[%k, %u] : (tensor<8x3xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %r = tg.reduce max %xv [] over %k, %u relaxed : tensor<f32> -> tensor<f32>
  %s = tg.store %o, %r : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
  // CHECK:      [[OLD:%.*]] = tg.load %{{.*}} : tensor<f32, #tg.place<reg>>
  // CHECK:      tg.reduce max %xv [0] relaxed
  // CHECK:      [[NEW:%.*]] = tg.reshape
  // CHECK-NEXT: [[LESS:%.*]] = tg.cmplt [[OLD]], [[NEW]]
  // CHECK-NEXT: [[MAX:%.*]] = tg.where [[LESS]], [[NEW]], [[OLD]]
  // CHECK-NEXT: tg.store %{{.*}}, [[MAX]]
  // SELECT-COUNT-3: tg.where
  // SELECT-NOT:     tg.max
}

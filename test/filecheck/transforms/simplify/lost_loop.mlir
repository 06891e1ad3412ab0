// RUN: tg-opt %s -p tg-simplify | filecheck %s

// In a kernel with a schedule, a REDUCE loses the loop that its operand has lost: SPLIT makes (4 a + b) idiv 4 of a
// quotient, which is a.

// CHECK:       tg.kernel @maximum
// CHECK:         %[[A:.*]] = tg.range 3 reduce
// CHECK-NOT:     tg.range 4
// CHECK:         tg.reduce max %[[A]] [] over %[[A]] :
tg.kernel @maximum {
  %0 = tg.param 0 : tensor<index, #tg.place<global>>
  %1 = tg.const 4 : tensor<index>
  %a = tg.range 3 reduce to %1 : tensor<index>
  %b = tg.range 4 unroll to %1 : tensor<index>
  %2 = tg.mul %a, %1 : tensor<index>
  %3 = tg.add %2, %b : tensor<index>
  %4 = tg.idiv %3, %1 : tensor<index>
  %5 = tg.reduce max %4 [] over %a, %b : tensor<index> -> tensor<index>
  %6 = tg.store %0, %5 : tensor<index, #tg.place<global>>, tensor<index>
  %7 = tg.sink %6 opts [#tg.opt<split 3, 4, unroll>] : !tg.void
}

// CHECK:       tg.kernel @sum
// CHECK:         %[[R:.*]] = tg.reduce add %[[A:.*]] [] over %[[A]] :
// CHECK-NEXT:    tg.mul %[[R]], %{{.*}} :
tg.kernel @sum {
  %0 = tg.param 0 : tensor<index, #tg.place<global>>
  %1 = tg.const 4 : tensor<index>
  %a = tg.range 3 reduce to %1 : tensor<index>
  %b = tg.range 4 unroll to %1 : tensor<index>
  %2 = tg.mul %a, %1 : tensor<index>
  %3 = tg.add %2, %b : tensor<index>
  %4 = tg.idiv %3, %1 : tensor<index>
  %5 = tg.reduce add %4 [] over %a, %b : tensor<index> -> tensor<index>
  %6 = tg.store %0, %5 : tensor<index, #tg.place<global>>, tensor<index>
  %7 = tg.sink %6 opts [#tg.opt<split 3, 4, unroll>] : !tg.void
}

// RUN: tg-opt %s -p tg-optimize,tg-verify{level=kernels} | filecheck %s
// RUN: tg-opt %s -p tg-expand,tg-verify{level=tiles} | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --input 5,6,7,8 --input 9,10,11,12 | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --target interpreter --input 1,2,3,4 --input 5,6,7,8 --input 9,10,11,12 | filecheck %s --check-prefix=RESULT

// A kernel that swaps two buffers reads copies of both, and one kernel is enough for the copies of all CALLs. A CALL
// that passes memory to be read and to be written reads a copy, too.

// RESULT:      %a = dense<[5, 6, 7, 8]>
// RESULT-NEXT: %b = dense<[1, 2, 3, 4]>
// RESULT-NEXT: %c = dense<[12, 11, 10, 9]>

// CHECK-LABEL: tg.kernel @swap_copy_0 {
// CHECK:         %[[CELL:.*]] = tg.index %1[%{{.*}}]
// CHECK-NEXT:    %[[OLD:.*]] = tg.load %[[CELL]]
// CHECK-NEXT:    tg.store %{{.*}}, %[[OLD]]
// CHECK-LABEL: tg.kernel @swap_copy_1 {
// CHECK-LABEL: tg.kernel @swap {
// CHECK-DAG:     %[[A:.*]] = tg.param 2 : tensor<4xi32, #tg.place<global>>
// CHECK-DAG:     %[[B:.*]] = tg.param 3 : tensor<4xi32, #tg.place<global>>
// CHECK-DAG:     %[[AI:.*]] = tg.index %[[A]][%i]
// CHECK-DAG:     %va = tg.load %[[AI]]
// CHECK-DAG:     %[[BJ:.*]] = tg.index %[[B]][%j]
// CHECK-DAG:     %vb = tg.load %[[BJ]]
// CHECK-LABEL: tg.kernel @reversed_copy_0 {
// CHECK-LABEL: func.func @main
// CHECK:         %[[DONE:.*]] = tg.call @reversed_copy_0(%[[MEMORY:.*]], %c)
// CHECK-NEXT:    %[[OLD:.*]] = tg.after %[[MEMORY]], %[[DONE]]
// CHECK-NEXT:    tg.call @reversed(%[[OLD]], %c)
// CHECK:         tg.call @swap_copy_0
// CHECK:         tg.call @swap_copy_1
// CHECK:         tg.call @swap(%a, %b, %{{.*}}, %{{.*}})
!m = tensor<4xi32, #tg.place<"CPU", global>>
!p = tensor<4xi32, #tg.place<global>>
!s = tensor<i32, #tg.place<global>>
tg.kernel @swap {
  %a = tg.param 0 : !p
  %b = tg.param 1 : !p
  %c4 = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %ai = tg.index %a[%i] : (!p, tensor<index>) -> !s
  %bi = tg.index %b[%i] : (!p, tensor<index>) -> !s
  %va = tg.load %ai : !s -> tensor<i32>
  %st = tg.store %bi, %va : !s, tensor<i32>
  %e = tg.end %st over %i : !tg.void
  %j = tg.range 1 loop to %c4 : tensor<index>
  %aj = tg.index %a[%j] : (!p, tensor<index>) -> !s
  %bj = tg.index %b[%j] : (!p, tensor<index>) -> !s
  %vb = tg.load %bj : !s -> tensor<i32>
  %su = tg.store %aj, %vb : !s, tensor<i32>
  %f = tg.end %su over %j : !tg.void
  tg.sink %e, %f : !tg.void, !tg.void
}
tg.kernel @reversed {
  %a = tg.param 0 : !p
  %b = tg.param 1 : !p
  %c4 = tg.const 4 : tensor<index>
  %c3 = tg.const 3 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %r = tg.sub %c3, %i : tensor<index>
  %ai = tg.index %a[%i] : (!p, tensor<index>) -> !s
  %bi = tg.index %b[%r] : (!p, tensor<index>) -> !s
  %va = tg.load %ai : !s -> tensor<i32>
  %st = tg.store %bi, %va : !s, tensor<i32>
  %e = tg.end %st over %i : !tg.void
  tg.sink %e : !tg.void
}
func.func @main(%a: !m, %b: !m, %c: !m) {
  %0 = tg.call @reversed(%c, %c) : (!m, !m) -> !tg.void
  %1 = tg.call @swap(%a, %b) : (!m, !m) -> !tg.void
  %s = tg.sink %0, %1 : !tg.void, !tg.void
  func.return
}

// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-verify{level=kernels}' | filecheck %s

// Buffers are memory of their own: of the slots of calls, that of the first result is gone, and the one after the last is
// free.

// CHECK-LABEL: func.func @main
// CHECK-DAG:   tg.buffer 0 :
// CHECK-DAG:   tg.buffer 2 :
// CHECK-DAG:   tg.buffer 3 :
// CHECK-NOT:   tg.buffer
// CHECK:       func.return
func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %0 = tg.neg %x : tensor<4xi32>
  %1 = tg.contiguous %0 : tensor<4xi32>
  %2 = tg.function(%1) attributes {tg.outline} {
    %p = tg.param 0 : tensor<4xi32>
    %a = tg.neg %p : tensor<4xi32>
    %b = tg.add %p, %p : tensor<4xi32>
    %t = tg.tuple %a, %b : (tensor<4xi32>, tensor<4xi32>) -> !tg.tuple<tensor<4xi32>, tensor<4xi32>>
  } : tensor<4xi32> -> !tg.tuple<tensor<4xi32>, tensor<4xi32>>
  %3 = tg.gettuple %2 0 : !tg.tuple<tensor<4xi32>, tensor<4xi32>> -> tensor<4xi32>
  %4 = tg.add %1, %1 : tensor<4xi32>
  func.return %3, %4 : tensor<4xi32>, tensor<4xi32>
}

// RUN: tg-opt %s -p tg-reroll | filecheck %s

// Two SCANs have the same steps, and stack other values of them: they become one.

// CHECK-LABEL: func.func @merge
// CHECK:         %[[scan:.*]] = tg.scan(%h, %x) states 1 sequences 1 steps 4 {
// CHECK:           %[[old:.*]] = tg.param 0
// CHECK:           %[[twice:.*]] = tg.mul
// CHECK:           %[[new:.*]] = tg.add
// CHECK:           tg.tuple %[[new]], %[[twice]], %[[old]]
// CHECK-NOT:     tg.scan
// CHECK-DAG:     %[[a:.*]] = tg.gettuple %[[scan]] 1
// CHECK-DAG:     %[[b:.*]] = tg.gettuple %[[scan]] 2
// CHECK-DAG:     %[[c:.*]] = tg.gettuple %[[scan]] 0
// CHECK:         return %[[a]], %[[b]], %[[c]]

func.func @merge(%x: tensor<4x3xf32>, %h: tensor<3xf32>)
    -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>) {
  %0 = tg.scan(%h, %x) states 1 sequences 1 steps 4 {
    %s = tg.param 0 : tensor<3xf32>
    %e = tg.param 1 : tensor<3xf32>
    %p = tg.mul %s, %e : tensor<3xf32>
    %n = tg.add %p, %e : tensor<3xf32>
    %t = tg.tuple %n, %p : (tensor<3xf32>, tensor<3xf32>) -> !tg.tuple<tensor<3xf32>, tensor<3xf32>>
  } : (tensor<3xf32>, tensor<4x3xf32>) -> !tg.tuple<tensor<3xf32>, tensor<4x3xf32>>
  %1 = tg.scan(%h, %x) states 1 sequences 1 steps 4 {
    %s = tg.param 0 : tensor<3xf32>
    %e = tg.param 1 : tensor<3xf32>
    %p = tg.mul %s, %e : tensor<3xf32>
    %n = tg.add %p, %e : tensor<3xf32>
    %t = tg.tuple %n, %s : (tensor<3xf32>, tensor<3xf32>) -> !tg.tuple<tensor<3xf32>, tensor<3xf32>>
  } : (tensor<3xf32>, tensor<4x3xf32>) -> !tg.tuple<tensor<3xf32>, tensor<4x3xf32>>
  %2 = tg.gettuple %0 1 : !tg.tuple<tensor<3xf32>, tensor<4x3xf32>> -> tensor<4x3xf32>
  %3 = tg.gettuple %1 1 : !tg.tuple<tensor<3xf32>, tensor<4x3xf32>> -> tensor<4x3xf32>
  %4 = tg.gettuple %1 0 : !tg.tuple<tensor<3xf32>, tensor<4x3xf32>> -> tensor<3xf32>
  return %2, %3, %4 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<3xf32>
}

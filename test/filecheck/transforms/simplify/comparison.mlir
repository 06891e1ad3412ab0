// RUN: tg-opt %s -p tg-simplify | filecheck %s

// a in [0, 100], b in [0, 3]

// CHECK-LABEL: @constant
// CHECK-DAG: %[[C3:.*]] = tg.const 3
// CHECK-DAG: %[[LT:.*]] = tg.cmplt %a, %[[C3]]
// CHECK: func.return %[[LT]], %[[LT]], %[[LT]], %[[LT]]
func.func @constant(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %b: tensor<index> {tg.min = 0 : index, tg.max = 3 : index}) -> (tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>) {
  %c2 = tg.const 2 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %c5 = tg.const 5 : tensor<index>
  %c10 = tg.const 10 : tensor<index>
  %c12 = tg.const 12 : tensor<index>
  // a + 2 < 5
  %0 = tg.add %a, %c2 : tensor<index>
  %1 = tg.cmplt %0, %c5 : (tensor<index>, tensor<index>) -> tensor<i1>
  // a * 4 < 10
  %2 = tg.mul %a, %c4 : tensor<index>
  %3 = tg.cmplt %2, %c10 : (tensor<index>, tensor<index>) -> tensor<i1>
  // a * 4 + b < 12
  %4 = tg.add %2, %b : tensor<index>
  %5 = tg.cmplt %4, %c12 : (tensor<index>, tensor<index>) -> tensor<i1>
  // a <= 2
  %6 = tg.cmple %a, %c2 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %1, %3, %5, %6 : tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>
}

// CHECK-LABEL: @decided
// CHECK-DAG: %[[T:.*]] = tg.const true
// CHECK-DAG: %[[F:.*]] = tg.const false
// CHECK: func.return %[[T]], %[[F]], %[[T]], %[[F]]
func.func @decided(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %b: tensor<index> {tg.min = 0 : index, tg.max = 3 : index}) -> (tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>) {
  %c4 = tg.const 4 : tensor<index>
  %c6 = tg.const 6 : tensor<index>
  %0 = tg.cmplt %b, %c4 : (tensor<index>, tensor<index>) -> tensor<i1>
  // a < a + b needs b, but a + b < a does not
  %1 = tg.add %a, %b : tensor<index>
  %2 = tg.cmplt %1, %a : (tensor<index>, tensor<index>) -> tensor<i1>
  // a * 4 is no 6
  %3 = tg.mul %a, %c4 : tensor<index>
  %4 = tg.cmpne %3, %c6 : (tensor<index>, tensor<index>) -> tensor<i1>
  %5 = tg.cmpeq %3, %c6 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %0, %2, %4, %5 : tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>
}

// An i8 of any value may wrap: a + 2 < 5 is not a < 3, but a + 2 != 5 is a != 3.
// CHECK-LABEL: @wrapping
// CHECK: %[[A2:.*]] = tg.add %a, %c2
// CHECK: tg.cmplt %[[A2]], %c5
// CHECK: %[[C3:.*]] = tg.const 3
// CHECK: tg.cmpne %a, %[[C3]]
func.func @wrapping(%a: tensor<i8>) -> (tensor<i1>, tensor<i1>) {
  %c2 = tg.const 2 : tensor<i8>
  %c5 = tg.const 5 : tensor<i8>
  %0 = tg.add %a, %c2 : tensor<i8>
  %1 = tg.cmplt %0, %c5 : (tensor<i8>, tensor<i8>) -> tensor<i1>
  %2 = tg.cmpne %0, %c5 : (tensor<i8>, tensor<i8>) -> tensor<i1>
  return %1, %2 : tensor<i1>, tensor<i1>
}

// CHECK-LABEL: @masks
// CHECK-DAG: %[[C4:.*]] = tg.const 4
// CHECK-DAG: %[[C7:.*]] = tg.const 7
// CHECK-DAG: %[[LT4:.*]] = tg.cmplt %a, %[[C4]]
// CHECK-DAG: %[[LT7:.*]] = tg.cmplt %a, %[[C7]]
// CHECK-DAG: %[[GE4:.*]] = tg.cmplt %{{.*}}, %a
// CHECK: func.return %[[LT4]], %[[LT7]], %[[GE4]], %[[LT4]]
func.func @masks(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> (tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>) {
  %c0 = tg.const 0 : tensor<index>
  %c1 = tg.const 1 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %c7 = tg.const 7 : tensor<index>
  %0 = tg.cmplt %a, %c4 : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.cmplt %a, %c7 : (tensor<index>, tensor<index>) -> tensor<i1>
  %2 = tg.and %0, %1 : tensor<i1>
  %3 = tg.or %0, %1 : tensor<i1>
  %4 = tg.not %0 : tensor<i1>
  // (a < 4 ? 1 : 0) != 0
  %5 = tg.where %0, %c1, %c0 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %6 = tg.cmpne %5, %c0 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %2, %3, %4, %6 : tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>
}

// a in [0, 2], b in [0, 13]: 14 a + b < 41 is a + b < 15, which is smaller; but a clamp keeps the comparison that its interval is known by.

// CHECK-LABEL: @clamp
// CHECK: %[[AT:.*]] = tg.add %{{.*}}, %b
// CHECK: %[[LT:.*]] = tg.cmplt %[[AT]], %{{.*}}
// CHECK: tg.where %[[LT]], %[[AT]], %{{.*}}
func.func @clamp(%a: tensor<index> {tg.min = 0 : index, tg.max = 2 : index}, %b: tensor<index> {tg.min = 0 : index, tg.max = 13 : index}) -> tensor<index> {
  %c14 = tg.const 14 : tensor<index>
  %c40 = tg.const 40 : tensor<index>
  %c41 = tg.const 41 : tensor<index>
  %0 = tg.mul %a, %c14 : tensor<index>
  %1 = tg.add %0, %b : tensor<index>
  %2 = tg.cmplt %1, %c41 : (tensor<index>, tensor<index>) -> tensor<i1>
  %3 = tg.where %2, %1, %c40 : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  return %3 : tensor<index>
}

// CHECK-LABEL: @no_clamp
// CHECK: %[[SUM:.*]] = tg.add %{{.*}}, %{{.*}}
// CHECK: %[[LT:.*]] = tg.cmplt %[[SUM]], %{{.*}}
// CHECK: func.return %[[LT]]
func.func @no_clamp(%a: tensor<index> {tg.min = 0 : index, tg.max = 2 : index}, %b: tensor<index> {tg.min = 0 : index, tg.max = 13 : index}) -> tensor<i1> {
  %c14 = tg.const 14 : tensor<index>
  %c41 = tg.const 41 : tensor<index>
  %0 = tg.mul %a, %c14 : tensor<index>
  %1 = tg.add %0, %b : tensor<index>
  %2 = tg.cmplt %1, %c41 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %2 : tensor<i1>
}

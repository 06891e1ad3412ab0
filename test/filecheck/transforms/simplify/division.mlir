// RUN: tg-opt %s -p tg-simplify | filecheck %s

// a in [0, 100], b in [0, 3], n in [4, 8]

// CHECK-LABEL: @exact
// CHECK: func.return %a, %b, %a, %b
func.func @exact(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %b: tensor<index> {tg.min = 0 : index, tg.max = 3 : index}, %n: tensor<index> {tg.min = 4 : index, tg.max = 8 : index}) -> (tensor<index>, tensor<index>, tensor<index>, tensor<index>) {
  %c4 = tg.const 4 : tensor<index>
  %0 = tg.mul %a, %c4 : tensor<index>
  %1 = tg.add %0, %b : tensor<index>
  %2 = tg.idiv %1, %c4 : tensor<index>
  %3 = tg.mod %1, %c4 : tensor<index>
  // the same with a divisor that is not constant
  %4 = tg.mul %a, %n : tensor<index>
  %5 = tg.add %4, %b : tensor<index>
  %6 = tg.idiv %5, %n : tensor<index>
  %7 = tg.mod %5, %n : tensor<index>
  return %2, %3, %6, %7 : tensor<index>, tensor<index>, tensor<index>, tensor<index>
}

// CHECK-LABEL: @low_part
// CHECK-DAG: %[[C2:.*]] = tg.const 2 : tensor<index>
// CHECK-DAG: %[[Q:.*]] = tg.idiv %a, %[[C2]]
// CHECK-DAG: %[[R:.*]] = tg.mod %a, %[[C2]]
// CHECK-DAG: %[[R4:.*]] = tg.mul %[[R]], %c4
// CHECK-DAG: %[[M:.*]] = tg.add %[[R4]], %b
// CHECK: func.return %[[Q]], %[[M]]
func.func @low_part(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %b: tensor<index> {tg.min = 0 : index, tg.max = 3 : index}) -> (tensor<index>, tensor<index>) {
  %c4 = tg.const 4 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %0 = tg.mul %a, %c4 : tensor<index>
  %1 = tg.add %0, %b : tensor<index>
  %2 = tg.idiv %1, %c8 : tensor<index>
  %3 = tg.mod %1, %c8 : tensor<index>
  return %2, %3 : tensor<index>, tensor<index>
}

// CHECK-LABEL: @nested
// CHECK-DAG: %[[C20:.*]] = tg.const 20
// CHECK-DAG: %[[Q:.*]] = tg.idiv %a, %[[C20]]
// CHECK-DAG: %[[M:.*]] = tg.mod %a, %c4
// CHECK: func.return %[[Q]], %[[M]], %a
func.func @nested(%a: tensor<index> {tg.min = -100 : index, tg.max = 100 : index}) -> (tensor<index>, tensor<index>, tensor<index>) {
  %c4 = tg.const 4 : tensor<index>
  %c5 = tg.const 5 : tensor<index>
  %c12 = tg.const 12 : tensor<index>
  %0 = tg.idiv %a, %c4 : tensor<index>
  %1 = tg.idiv %0, %c5 : tensor<index>
  %2 = tg.mod %a, %c12 : tensor<index>
  %3 = tg.mod %2, %c4 : tensor<index>
  %4 = tg.mul %0, %c4 : tensor<index>
  %5 = tg.add %4, %3 : tensor<index>
  return %1, %3, %5 : tensor<index>, tensor<index>, tensor<index>
}

// a * 4 may wrap: then (a * 4) idiv 4 is not a. The two are still each other's quotient and remainder.
// CHECK-LABEL: @wrapping
// CHECK: tg.mul
// CHECK: %[[Q:.*]] = tg.idiv
// CHECK: func.return %[[Q]]
func.func @wrapping(%a: tensor<i8>) -> tensor<i8> {
  %c4 = tg.const 4 : tensor<i8>
  %0 = tg.mul %a, %c4 : tensor<i8>
  %1 = tg.idiv %0, %c4 : tensor<i8>
  return %1 : tensor<i8>
}

// An unrolled division by 4.
// CHECK-LABEL: @hermite
// CHECK: func.return %a
func.func @hermite(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<index> {
  %c1 = tg.const 1 : tensor<index>
  %c2 = tg.const 2 : tensor<index>
  %0 = tg.idiv %a, %c2 : tensor<index>
  %1 = tg.add %a, %c1 : tensor<index>
  %2 = tg.idiv %1, %c2 : tensor<index>
  %3 = tg.add %2, %0 : tensor<index>
  return %3 : tensor<index>
}

// CHECK-LABEL: @bits
// CHECK-DAG: %[[C8:.*]] = tg.const 8
// CHECK-DAG: %[[R:.*]] = tg.mod %a, %[[C8]]
// CHECK-DAG: %[[Q:.*]] = tg.idiv %a, %[[C8]]
// CHECK: func.return %[[R]], %[[Q]]
func.func @bits(%a: tensor<index>) -> (tensor<index>, tensor<index>) {
  %c7 = tg.const 7 : tensor<index>
  %c3 = tg.const 3 : tensor<index>
  %0 = tg.and %a, %c7 : tensor<index>
  %1 = tg.shr %a, %c3 : tensor<index>
  return %0, %1 : tensor<index>, tensor<index>
}

// RUN: tg-opt %s -p tg-simplify | filecheck %s

// The handler of each op, where no rule of the tables applies.

// -(3 a).
// CHECK-LABEL: @neg(
// CHECK-NEXT: %[[V0:.*]] = tg.const -3 : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = tg.mul %a, %[[V0]] : tensor<i32>
// CHECK-NEXT: func.return %[[V1]]
func.func @neg(%a: tensor<i32>) -> tensor<i32> {
  %c3 = tg.const 3 : tensor<i32>
  %0 = tg.mul %a, %c3 : tensor<i32>
  %r = tg.neg %0 : tensor<i32>
  return %r : tensor<i32>
}

// (3 a) 4.
// CHECK-LABEL: @mul(
// CHECK-NEXT: %[[V0:.*]] = tg.const 12 : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = tg.mul %a, %[[V0]] : tensor<i32>
// CHECK-NEXT: func.return %[[V1]]
func.func @mul(%a: tensor<i32>) -> tensor<i32> {
  %c3 = tg.const 3 : tensor<i32>
  %c4 = tg.const 4 : tensor<i32>
  %0 = tg.mul %a, %c3 : tensor<i32>
  %r = tg.mul %0, %c4 : tensor<i32>
  return %r : tensor<i32>
}

// (3 a) 2^2.
// CHECK-LABEL: @shl(
// CHECK-NEXT: %[[V0:.*]] = tg.const 12 : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = tg.mul %a, %[[V0]] : tensor<i32>
// CHECK-NEXT: func.return %[[V1]]
func.func @shl(%a: tensor<i32>) -> tensor<i32> {
  %c3 = tg.const 3 : tensor<i32>
  %c2 = tg.const 2 : tensor<i32>
  %0 = tg.mul %a, %c3 : tensor<i32>
  %r = tg.shl %0, %c2 : tensor<i32>
  return %r : tensor<i32>
}

// 3 a + 5 a.
// CHECK-LABEL: @mulacc(
// CHECK-NEXT: %[[V0:.*]] = tg.const 8 : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = tg.mul %a, %[[V0]] : tensor<i32>
// CHECK-NEXT: func.return %[[V1]]
func.func @mulacc(%a: tensor<i32>) -> tensor<i32> {
  %c3 = tg.const 3 : tensor<i32>
  %c5 = tg.const 5 : tensor<i32>
  %0 = tg.mul %a, %c5 : tensor<i32>
  %r = tg.mulacc %a, %c3, %0 : tensor<i32>
  return %r : tensor<i32>
}

// a + 3 <= a + b.
// CHECK-LABEL: @at_most(
// CHECK-NEXT: %[[V0:.*]] = tg.const 2 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %[[V0]], %b : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V1]]
func.func @at_most(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %b: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c3 = tg.const 3 : tensor<index>
  %0 = tg.add %a, %c3 : tensor<index>
  %1 = tg.add %a, %b : tensor<index>
  %r = tg.cmple %0, %1 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %r : tensor<i1>
}

// a + 3 >= a + b.
// CHECK-LABEL: @at_least(
// CHECK-NEXT: %[[V0:.*]] = tg.const 4 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %b, %[[V0]] : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: func.return %[[V1]]
func.func @at_least(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %b: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c3 = tg.const 3 : tensor<index>
  %0 = tg.add %a, %c3 : tensor<index>
  %1 = tg.add %a, %b : tensor<index>
  %r = tg.cmpge %0, %1 : (tensor<index>, tensor<index>) -> tensor<i1>
  return %r : tensor<i1>
}

// a and a + b, of which b is at least 1.
// CHECK-LABEL: @maximum(
// CHECK-NEXT: %[[V0:.*]] = tg.add %a, %b : tensor<index>
// CHECK-NEXT: func.return %[[V0]]
func.func @maximum(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %b: tensor<index> {tg.min = 1 : index, tg.max = 100 : index}) -> tensor<index> {
  %0 = tg.add %a, %b : tensor<index>
  %r = tg.max %a, %0 : tensor<index>
  return %r : tensor<index>
}

// a < 4 and a mod 4 = b.
// CHECK-LABEL: @and(
// CHECK-NEXT: %[[V0:.*]] = tg.const 4 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %a, %[[V0]] : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: %[[V2:.*]] = tg.cmpeq %a, %b : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: %[[V3:.*]] = tg.and %[[V1]], %[[V2]] : tensor<i1>
// CHECK-NEXT: func.return %[[V3]]
func.func @and(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %b: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c4 = tg.const 4 : tensor<index>
  %0 = tg.cmplt %a, %c4 : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.mod %a, %c4 : tensor<index>
  %2 = tg.cmpeq %1, %b : (tensor<index>, tensor<index>) -> tensor<i1>
  %r = tg.and %0, %2 : tensor<i1>
  return %r : tensor<i1>
}

// 3 < a or a mod 4 = b.
// CHECK-LABEL: @or(
// CHECK-NEXT: %[[V0:.*]] = tg.const 3 : tensor<index>
// CHECK-NEXT: %[[V1:.*]] = tg.cmplt %[[V0]], %a : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: %[[V2:.*]] = tg.cmpeq %a, %b : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NEXT: %[[V3:.*]] = tg.or %[[V1]], %[[V2]] : tensor<i1>
// CHECK-NEXT: func.return %[[V3]]
func.func @or(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %b: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}) -> tensor<i1> {
  %c3 = tg.const 3 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %0 = tg.cmplt %c3, %a : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.mod %a, %c4 : tensor<index>
  %2 = tg.cmpeq %1, %b : (tensor<index>, tensor<index>) -> tensor<i1>
  %r = tg.or %0, %2 : tensor<i1>
  return %r : tensor<i1>
}

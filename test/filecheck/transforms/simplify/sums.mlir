// RUN: tg-opt %s -p tg-simplify | filecheck %s

// CHECK-LABEL: @collect
// CHECK-NEXT: %[[C5:.*]] = tg.const 5 : tensor<i32>
// CHECK-NEXT: %[[A5:.*]] = tg.mul %a, %[[C5]]
// CHECK-NEXT: func.return %[[A5]], %b
func.func @collect(%a: tensor<i32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %c2 = tg.const 2 : tensor<i32>
  %c3 = tg.const 3 : tensor<i32>
  %0 = tg.mul %a, %c2 : tensor<i32>
  %1 = tg.mul %c3, %a : tensor<i32>
  %2 = tg.add %0, %1 : tensor<i32>
  %3 = tg.add %a, %b : tensor<i32>
  %4 = tg.sub %3, %a : tensor<i32>
  return %2, %4 : tensor<i32>, tensor<i32>
}

// The constant comes last, once.
// CHECK-LABEL: @constants
// CHECK-NEXT: %[[AB:.*]] = tg.add %a, %b
// CHECK-NEXT: %[[C7:.*]] = tg.const 7
// CHECK-NEXT: %[[R:.*]] = tg.add %[[AB]], %[[C7]]
// CHECK-NEXT: func.return %[[R]]
func.func @constants(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %c3 = tg.const 3 : tensor<i32>
  %c4 = tg.const 4 : tensor<i32>
  %0 = tg.add %a, %c3 : tensor<i32>
  %1 = tg.add %0, %b : tensor<i32>
  %2 = tg.add %1, %c4 : tensor<i32>
  return %2 : tensor<i32>
}

// Sums that are equal are one, however they are written.
// CHECK-LABEL: @reassociated
// CHECK-NEXT: %0 = tg.add %a, %b
// CHECK-NEXT: %1 = tg.add %0, %c
// CHECK-NEXT: func.return %1, %1, %1
func.func @reassociated(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>) {
  %0 = tg.add %a, %b : tensor<i32>
  %1 = tg.add %0, %c : tensor<i32>
  %2 = tg.add %c, %b : tensor<i32>
  %3 = tg.add %2, %a : tensor<i32>
  %4 = tg.neg %b : tensor<i32>
  %5 = tg.add %c, %a : tensor<i32>
  %6 = tg.sub %5, %4 : tensor<i32>
  return %1, %3, %6 : tensor<i32>, tensor<i32>, tensor<i32>
}

// CHECK-LABEL: @factored
// CHECK: %[[S:.*]] = tg.add %a, %b
// CHECK-NEXT: tg.mul %[[S]], %c3
func.func @factored(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %c3 = tg.const 3 : tensor<i32>
  %0 = tg.mul %a, %c3 : tensor<i32>
  %1 = tg.mul %b, %c3 : tensor<i32>
  %2 = tg.add %0, %1 : tensor<i32>
  return %2 : tensor<i32>
}

// Integers wrap, so this holds although 100 + 100 does not fit.
// CHECK-LABEL: @wrap
// CHECK-NEXT: %[[C:.*]] = tg.const -56 : tensor<i8>
// CHECK-NEXT: tg.add %a, %[[C]]
func.func @wrap(%a: tensor<i8>) -> tensor<i8> {
  %c = tg.const 100 : tensor<i8>
  %0 = tg.add %a, %c : tensor<i8>
  %1 = tg.add %0, %c : tensor<i8>
  return %1 : tensor<i8>
}

// Values of a shape are summed as scalars are; a float's sums are left as they are.
// CHECK-LABEL: @shaped
// CHECK-DAG: %[[C5:.*]] = tg.const 5 : tensor<i32>
// CHECK-DAG: tg.add %a, %[[C5]] : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK: tg.add %x, %y
// CHECK: tg.sub %{{.*}}, %x
func.func @shaped(%a: tensor<4xi32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %c2 = tg.const 2 : tensor<i32>
  %c3 = tg.const 3 : tensor<i32>
  %0 = tg.add %a, %c2 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = tg.add %0, %c3 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %2 = tg.add %x, %y : tensor<4xf32>
  %3 = tg.sub %2, %x : tensor<4xf32>
  return %1, %3 : tensor<4xi32>, tensor<4xf32>
}

// x - x is 0 where x is valid.
// CHECK-LABEL: @invalid
// CHECK: tg.sub
func.func @invalid(%a: tensor<4xi32>) -> tensor<6xi32> {
  %0 = tg.pad %a at [1] to [6] : tensor<4xi32> -> tensor<6xi32>
  %1 = tg.sub %0, %0 : tensor<6xi32>
  return %1 : tensor<6xi32>
}

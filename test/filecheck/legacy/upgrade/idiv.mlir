// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 7,-7,7,-7,-6,5,-2147483648 --input 2,2,-2,-2,3,0,1 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 7,-7,7,-7,-6,5,-2147483648 --input 2,2,-2,-2,3,0,1 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[3, -3, -3, 3, -2, 0, -2147483648]> : tensor<7xi32>
// RESULT-NEXT: dense<[1, -1, 1, -1, -1, 1, -536870912]> : tensor<7xi32>
// RESULT-NEXT: dense<[1, 1, 1, 1, 1, 0, 0]> : tensor<7xi32>

// IDIV rounds toward zero: the floor, plus 1 where the quotient is negative and no integer. The floor alone where no operand is negative.

func.func @main(%x: tensor<7xi32>, %y: tensor<7xi32>) -> (tensor<7xi32>, tensor<7xi32>, tensor<7xi32>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %0 = tg.const 1 : tensor<i32>
  // CHECK-NEXT: %1 = tg.idiv %x, %y : tensor<7xi32>
  // CHECK-NEXT: %2 = tg.mod %x, %y : tensor<7xi32>
  // CHECK-NEXT: %3 = tg.const 0 : tensor<i32>
  // CHECK-NEXT: %4 = tg.cmplt %x, %3 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi1>
  // CHECK-NEXT: %5 = tg.cmplt %y, %3 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi1>
  // CHECK-NEXT: %6 = tg.xor %4, %5 : tensor<7xi1>
  // CHECK-NEXT: %7 = tg.cmpne %2, %3 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi1>
  // CHECK-NEXT: %8 = tg.and %6, %7 : tensor<7xi1>
  // CHECK-NEXT: %9 = tg.add %1, %0 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  // CHECK-NEXT: %q = tg.where %8, %9, %1 : (tensor<7xi1>, tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>
  // CHECK-NEXT: %four = tg.const 4 : tensor<i32>
  // CHECK-NEXT: %10 = tg.const 1 : tensor<i32>
  // CHECK-NEXT: %11 = tg.idiv %x, %four : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  // CHECK-NEXT: %12 = tg.mod %x, %four : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  // CHECK-NEXT: %13 = tg.const 0 : tensor<i32>
  // CHECK-NEXT: %14 = tg.cmplt %x, %13 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi1>
  // CHECK-NEXT: %15 = tg.cmpne %12, %13 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi1>
  // CHECK-NEXT: %16 = tg.and %14, %15 : tensor<7xi1>
  // CHECK-NEXT: %17 = tg.add %11, %10 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  // CHECK-NEXT: %fourth = tg.where %16, %17, %11 : (tensor<7xi1>, tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>
  // CHECK-NEXT: %three = tg.const 3 : tensor<i32>
  // CHECK-NEXT: %low = tg.and %y, %three : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  // CHECK-NEXT: %two = tg.const 2 : tensor<i32>
  // CHECK-NEXT: %half = tg.idiv %low, %two : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  // CHECK-NEXT: func.return %q, %fourth, %half : tensor<7xi32>, tensor<7xi32>, tensor<7xi32>
  %q = tg_legacy.idiv %x, %y : tensor<7xi32>
  %four = tg.const 4 : tensor<i32>
  %fourth = tg_legacy.idiv %x, %four : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  %three = tg.const 3 : tensor<i32>
  %low = tg.and %y, %three : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  %two = tg.const 2 : tensor<i32>
  %half = tg_legacy.idiv %low, %two : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  func.return %q, %fourth, %half : tensor<7xi32>, tensor<7xi32>, tensor<7xi32>
}

// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 7,-7,7,-7,-6,5,-2147483648 --input 2,2,-2,-2,3,0,-1 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 7,-7,7,-7,-6,5,-2147483648 --input 2,2,-2,-2,3,0,-1 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[1, -1, 1, -1, 0, 0, 0]> : tensor<7xi32>
// RESULT-NEXT: dense<[3, -3, 3, -3, -2, 1, 0]> : tensor<7xi32>

// MOD has the sign of the dividend: the modulo, less the divisor where the signs differ and it is not 0.

func.func @main(%x: tensor<7xi32>, %y: tensor<7xi32>) -> (tensor<7xi32>, tensor<7xi32>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %0 = tg.mod %x, %y : tensor<7xi32>
  // CHECK-NEXT: %1 = tg.const 0 : tensor<i32>
  // CHECK-NEXT: %2 = tg.cmplt %x, %1 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi1>
  // CHECK-NEXT: %3 = tg.cmplt %y, %1 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi1>
  // CHECK-NEXT: %4 = tg.xor %2, %3 : tensor<7xi1>
  // CHECK-NEXT: %5 = tg.cmpne %0, %1 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi1>
  // CHECK-NEXT: %6 = tg.and %4, %5 : tensor<7xi1>
  // CHECK-NEXT: %7 = tg.sub %0, %y : tensor<7xi32>
  // CHECK-NEXT: %q = tg.where %6, %7, %0 : (tensor<7xi1>, tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>
  // CHECK-NEXT: %four = tg.const 4 : tensor<i32>
  // CHECK-NEXT: %8 = tg.mod %x, %four : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  // CHECK-NEXT: %9 = tg.const 0 : tensor<i32>
  // CHECK-NEXT: %10 = tg.cmplt %x, %9 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi1>
  // CHECK-NEXT: %11 = tg.cmpne %8, %9 : (tensor<7xi32>, tensor<i32>) -> tensor<7xi1>
  // CHECK-NEXT: %12 = tg.and %10, %11 : tensor<7xi1>
  // CHECK-NEXT: %13 = tg.sub %8, %four : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  // CHECK-NEXT: %fourth = tg.where %12, %13, %8 : (tensor<7xi1>, tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>
  // CHECK-NEXT: func.return %q, %fourth : tensor<7xi32>, tensor<7xi32>
  %q = tg_legacy.mod %x, %y : tensor<7xi32>
  %four = tg.const 4 : tensor<i32>
  %fourth = tg_legacy.mod %x, %four : (tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  func.return %q, %fourth : tensor<7xi32>, tensor<7xi32>
}

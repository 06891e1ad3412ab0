// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[6, 7, 8]> : tensor<3xi32>

// BIND gives a variable its value: alone it is that value.

func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %five = tg.const 5 : tensor<i32>
  // CHECK-NEXT: %r = tg.add %x, %five : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  // CHECK-NEXT: func.return %r : tensor<3xi32>
  %n = tg_legacy.define_var "n" 1 to 8 : tensor<i32>
  %five = tg.const 5 : tensor<i32>
  %b = tg_legacy.bind %n, %five : tensor<i32>
  %r = tg.add %x, %b : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  func.return %r : tensor<3xi32>
}

// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3 --arg n=4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3 --arg n=4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[9, 10, 11]> : tensor<3xindex>

// DEFINE_VAR in a program on tensors: a PARAM, as a BIND elsewhere gives it no value. One name is one PARAM.

func.func @main(%x: tensor<3xindex>) -> tensor<3xindex> {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %n = tg.param 0 "n" min 0 max 4 : tensor<index>
  // CHECK-NEXT: %m = tg.param 0 "n" min 0 max 4 : tensor<index>
  // CHECK-NEXT: %y = tg.add %x, %n : (tensor<3xindex>, tensor<index>) -> tensor<3xindex>
  // CHECK-NEXT: %z = tg.add %y, %m : (tensor<3xindex>, tensor<index>) -> tensor<3xindex>
  // CHECK-NEXT: func.return %z : tensor<3xindex>
  %n = tg_legacy.define_var "n" 0 to 4 : tensor<index>
  %m = tg_legacy.define_var "n" 0 to 4 : tensor<index>
  %y = tg.add %x, %n : (tensor<3xindex>, tensor<index>) -> tensor<3xindex>
  %z = tg.add %y, %m : (tensor<3xindex>, tensor<index>) -> tensor<3xindex>
  func.return %z : tensor<3xindex>
}

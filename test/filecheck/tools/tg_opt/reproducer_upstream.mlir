// REQUIRES: mlir
// RUN: not tg-opt %s -p cse,tg-expand --mlir-pass-pipeline-crash-reproducer=%t.mlir
// RUN: sed s/tg-expand/canonicalize/ %t.mlir | mlir-opt --run-reproducer | filecheck %s

// Upstream's mlir-opt runs our files.

// CHECK-COUNT-1: arith.addi
// CHECK-NOT:     arith.addi
func.func @f(%a: i32) -> (i32, i32) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  return %0, %1 : i32, i32
}
func.func @g(%a: tensor<3xi32>) -> tensor<3xi32> {
  return %a : tensor<3xi32>
}

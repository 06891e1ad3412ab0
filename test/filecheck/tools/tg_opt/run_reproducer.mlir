// RUN: tg-opt --run-reproducer %s | filecheck %s
// RUN: tg-opt --run-reproducer %s --mlir-pass-pipeline-crash-reproducer=%t.mlir -o %t.out.mlir

// What mlir-opt writes for --mlir-pass-pipeline-crash-reproducer, in its order.

// CHECK-COUNT-1: arith.addi
// CHECK-NOT:     arith.addi
// CHECK-NOT:     mlir_reproducer
module {
  func.func @f(%a: i32) -> (i32, i32) {
    %0 = arith.addi %a, %a : i32
    %1 = arith.addi %a, %a : i32
    return %0, %1 : i32, i32
  }
}

{-#
  dialect_resources: {
    builtin: {
      blob1: "0x08000000010000000000000002000000000000000300000000000000"
    }
  },
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(func.func(cse), dce)",
      disable_threading: true,
      verify_each: true
    },
    "other": {
      count: 3,
      blob: "0x08000000FF"
    }
  }
#-}

// RUN: tg-opt %s --mlir-print-debuginfo | filecheck %s

// CHECK: arith.constant 1 : i32 loc("{{.*}}locations.mlir":[[# @LINE + 4]]:8)
// CHECK: arith.constant 2 : i32 loc("elsewhere.py":7:1)
// CHECK: func.return loc("{{.*}}locations.mlir":[[# @LINE + 4]]:3)
func.func @f() {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 2 : i32 loc("elsewhere.py":7:1)
  func.return
}

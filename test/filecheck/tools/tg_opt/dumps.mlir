// RUN: tg-opt %s -p cse,dce --mlir-print-ir-before=cse --mlir-print-ir-after=dce -o %t 2>&1 | filecheck %s --check-prefix=NAMED
// RUN: tg-opt %s -p cse,dce --mlir-print-ir-before-all --mlir-print-ir-after-all -o %t 2>&1 | filecheck %s --check-prefix=ALL
// RUN: tg-opt %s -p cse,dce --mlir-timing --time-passes -o %t 2>&1 | filecheck %s --check-prefix=TIME
// RUN: tg-opt %s -p cse,dce --mlir-print-ir-after-all --mlir-timing 2>/dev/null | filecheck %s --check-prefix=OUT

// NAMED:      // -----// IR Dump Before cse //----- //
// NAMED:      arith.constant
// NAMED-NOT:  IR Dump After cse
// NAMED-NOT:  IR Dump Before dce
// NAMED:      // -----// IR Dump After dce //----- //
// NAMED-NOT:  arith.constant

// ALL:        IR Dump Before cse
// ALL:        IR Dump After cse
// ALL:        IR Dump Before dce
// ALL:        IR Dump After dce

// TIME:       Pass cse took {{.*}} seconds
// TIME:       ... Execution time report ...
// TIME:       Total Execution Time: {{[0-9.]+}} seconds
// TIME:       Parser
// TIME:       Verifier
// TIME:       cse
// TIME:       dce
// TIME:       (100.0%)  Total

// OUT-NOT:    IR Dump
// OUT-NOT:    Execution time
// OUT:        func.func @f
func.func @f() {
  %0 = arith.constant 1 : i32
  func.return
}

// RUN: tg-opt %s --cse -canonicalize --tg-verify=level=tensor | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalize))' --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=NESTED
// RUN: tg-opt %s --pass-pipeline='builtin.module(any(cse))' --mlir-print-ir-after-all -o %t 2>&1 | filecheck %s --check-prefix=EACH
// RUN: tg-opt %s -p cse,cse --mlir-print-ir-after-all --mlir-print-ir-after-change -o %t 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: not tg-opt %s -p 'cse,mlir-opt-0[cse]' --allow-external --mlir-print-ir-after-failure 2>&1 | filecheck %s --check-prefix=FAILURE
// RUN: tg-opt %s --verify-roundtrip --mlir-elide-elementsattrs-if-larger=2 | filecheck %s --check-prefix=ELIDED
// RUN: tg-opt %s '--split-input-file=// CUT' '--output-split-marker=// XX' | filecheck %s --check-prefix=SPLIT
// RUN: not tg-opt %s --canonicalise 2>&1 | filecheck %s --check-prefix=UNKNOWN

// What users of mlir-opt know: passes as flags, pipelines on each function, and these dumps.

// CHECK:      func.func @f
// CHECK-NEXT:   %0 = arith.addi %a, %a : i32
// CHECK-NEXT:   func.return %0, %0 : i32, i32

// NESTED:      Pass Manager with 1 passes:
// NESTED-NEXT: builtin.module(func.func(cse,canonicalize))
// NESTED:      func.return %0, %0 : i32, i32

// EACH:      // -----// IR Dump After cse //----- //
// EACH-NEXT: func.func @f
// EACH:      // -----// IR Dump After cse //----- //
// EACH-NEXT: func.func @g

// CHANGE:     IR Dump After cse
// CHANGE-NOT: IR Dump

// FAILURE:      // -----// IR Dump After mlir-opt Failed //----- //
// FAILURE-NEXT: builtin.module {
// FAILURE:      error: pass mlir-opt: there is no program 'mlir-opt-0'

// ELIDED: dense_resource<__elided__> : tensor<3xi32>
// ELIDED: dense<7> : tensor<3xi32>

// SPLIT:      func.func @f
// SPLIT:      // XX
// SPLIT-NEXT: builtin.module
// SPLIT-NEXT:   func.func @g

// UNKNOWN: tg-opt: error: unknown option '--canonicalise', did you mean --canonicalize or
func.func @f(%a: i32) -> (i32, i32) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  func.return %0, %1 : i32, i32
}
// CUT
func.func @g() -> (tensor<3xi32>, tensor<3xi32>) {
  %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %1 = arith.constant dense<7> : tensor<3xi32>
  func.return %0, %1 : tensor<3xi32>, tensor<3xi32>
}

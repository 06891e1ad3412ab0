// RUN: rm -rf %t
// RUN: tg-opt %s --pass-pipeline='builtin.module(cse,dce,func.func(cse,dce),dce)' --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t -o %t.out.mlir 2>&1 | filecheck %s --check-prefix=QUIET --allow-empty
// RUN: sh -c 'cd %t && find . -type f | sort' | filecheck %s
// RUN: filecheck %s --check-prefix=FILE < %t/builtin_module_m/func_func_f/1_1_dce.mlir
// RUN: sh -c 'ls %t.out.mlir %t/..' | filecheck %s --check-prefix=OUTSIDE
// RUN: not tg-opt %s -p cse --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.out.mlir 2>&1 | filecheck %s --check-prefix=ERROR

// A folder for each operation, and a file for each pass on it, after the number of those before; a
// name is no path.

// QUIET-NOT:   {{.}}

// CHECK:       ./builtin_module_m/0_cse.mlir
// CHECK-NEXT:  ./builtin_module_m/1_dce.mlir
// CHECK-NEXT:  ./builtin_module_m/2_dce.mlir
// CHECK-NEXT:  ./builtin_module_m/func_func_.._.._.._up/1_0_cse.mlir
// CHECK-NEXT:  ./builtin_module_m/func_func_.._.._.._up/1_1_dce.mlir
// CHECK-NEXT:  ./builtin_module_m/func_func_f/1_0_cse.mlir
// CHECK-NEXT:  ./builtin_module_m/func_func_f/1_1_dce.mlir
// CHECK-NOT:   {{.}}

// FILE:        // -----// IR Dump After dce //----- //
// FILE-NEXT:   func.func @f() {
// FILE-NEXT:     func.return
// FILE-NEXT:   }

// OUTSIDE-NOT: {{^}}up

// ERROR:       error: cannot write {{.*}}.out.mlir: {{.+}}
builtin.module @m {
  func.func @f() {
    %0 = arith.constant 1 : i32
    return
  }
  func.func @"../../../up"() {
    return
  }
}

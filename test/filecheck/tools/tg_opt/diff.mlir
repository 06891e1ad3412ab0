// RUN: tg-opt %s -p cse,canonicalize,dce --diff cse -o %t 2>&1 | filecheck %s
// RUN: tg-opt %s -p cse,canonicalize,dce --diff cse --diff canonicalize,dce -o %t 2>&1 | filecheck %s --check-prefix=ALL
// RUN: tg-opt %s -p cse,canonicalize,dce --diff '*' -o %t 2>&1 | filecheck %s --check-prefix=ALL
// RUN: tg-opt %s --pass-pipeline='builtin.module(func.func(cse))' --diff cse -o %t 2>&1 | filecheck %s
// RUN: not tg-opt %s -p dce,canonicalize --diff cse 2>&1 | filecheck %s --check-prefix=NONE
// RUN: tg-opt %s -p cse --diff cse --syntax-highlight -o %t 2>&1 | filecheck %s --check-prefix=COLOR
// RUN: not tg-opt %s -p cse --diff csee 2>&1 | filecheck %s --check-prefix=UNKNOWN

// Functions that a pass leaves alone are not shown.

// CHECK-NOT:  @same
// CHECK:      --- func.func @f, before cse
// CHECK-NEXT: +++ func.func @f, after cse
// CHECK-NEXT: @@ -1,5 +1,4 @@
// CHECK-NEXT:  func.func @f(%a: i32) -> (i32, i32) {
// CHECK-NEXT:    %0 = arith.addi %a, %a : i32
// CHECK-NEXT: -  %1 = arith.addi %a, %a : i32
// CHECK-NEXT: -  func.return %0, %1 : i32, i32
// CHECK-NEXT: +  func.return %0, %0 : i32, i32
// CHECK-NEXT:  }
// CHECK-NOT:  {{.}}

// ALL:        +++ func.func @f, after cse
// ALL:        --- func.func @g, before canonicalize
// ALL-NEXT:   +++ func.func @g, after canonicalize
// ALL-NOT:    +++

// NONE:       error: --diff: pass 'cse' is not run; there are: dce, canonicalize

// COLOR:      {{.\[31m-  %1 = arith.addi}}
// COLOR:      {{.\[32m\+  func.return %0, %0}}

// UNKNOWN:    error: --diff: unknown pass 'csee'; did you mean {{.*}}cse?
func.func @same(%a: i32) -> i32 {
  return %a : i32
}
func.func @f(%a: i32) -> (i32, i32) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  return %0, %1 : i32, i32
}
func.func @g(%a: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %a, %0 : i32
  return %1 : i32
}

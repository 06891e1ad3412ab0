// RUN: tg-opt %s -p cse,canonicalize | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module( cse , canonicalize{} )' | filecheck %s
// RUN: tg-opt %s -pass-pipeline='builtin.module(cse)' -p= | filecheck %s
// RUN: tg-opt %s -p 'any(cse,)' | filecheck %s
// RUN: cat %s | tg-opt - --pass-pipeline='builtin.module(cse)' -o - | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module()' | filecheck %s --check-prefix=NONE

// CHECK:      func.func @f
// CHECK-NEXT:   %0 = arith.addi %a, %b : i32
// CHECK-NEXT:   func.return %0, %0 : i32, i32

// NONE:       arith.addi
// NONE-NEXT:  arith.addi
func.func @f(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b : i32
  func.return %0, %1 : i32, i32
}

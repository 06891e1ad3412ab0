// A pass on a function is an action of that function; a log has the last run.
// RUN: tg-opt %s -p canonicalize --log-actions-to %t -o %t.out
// RUN: tg-opt %s --pass-pipeline='builtin.module(func.func(cse))' --log-actions-to %t -o %t.out
// RUN: filecheck %s --input-file %t
// CHECK:      action 1: cse: pass: func.func @f at {{.*}}actions.mlir:9:1
// CHECK-NEXT: action 2: cse: pass: func.func @g at {{.*}}actions.mlir:12:1
// RUN: not tg-opt %s -p cse --tg-action-limit 1.x 2>&1 | filecheck %s --check-prefix=LIMIT
// LIMIT: expected a number from 0 to 1000000000, not 'x', in '1.x'
func.func @f(%a: i32) -> i32 {
  return %a : i32
}
func.func @g(%a: i32) -> i32 {
  return %a : i32
}

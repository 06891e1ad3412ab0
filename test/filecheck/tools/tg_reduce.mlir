// tg-reduce keeps what a command shows, or how passes and targets fail.

// RUN: tg-reduce %s --jobs 1 --command "grep -q tg.sqrt" | filecheck %s
// CHECK:      // Reduced from 5 to 1 ops.
// CHECK-NEXT: builtin.module {
// CHECK-NEXT:   func.func @main([[X:%.*]]: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:     [[Y:%.*]] = tg.sqrt [[X]] : tensor<f32>
// CHECK-NEXT:     func.return [[Y]] : tensor<f32>

// RUN: tg-reduce %s --jobs 1 -p tg-rangeify --error 'needs level function' 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: // Reduced from 5 to 0 ops.
// ERROR: tg-reduce: 5 to 0 ops in {{[0-9]+}} runs of the predicate

// RUN: not tg-reduce %s --jobs 1 -p cse 2>&1 | filecheck %s --check-prefix=SAME
// SAME: tg-reduce: error: the results are the same: there is nothing to reduce

// RUN: not tg-reduce %s --jobs 1 -p tg-rangeify 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: tg-reduce: error: the program does not run to its end: tg-rangeify needs level function{{.*}}; --error keeps that

// RUN: not tg-reduce %s --jobs 1 --command false 2>&1 | filecheck %s --check-prefix=FALSE
// FALSE: tg-reduce: error: the program does not show it under --command: it ends with 1

// RUN: not tg-reduce %s --if 'exit == 1' 2>&1 | filecheck %s --check-prefix=IF
// IF: tg-reduce: error: --if is about a command: name it by --command

func.func @main(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = tg.add %a, %b : tensor<3x4xf32>
  %1 = tg.mul %0, %0 : tensor<3x4xf32>
  %2 = tg.sqrt %1 : tensor<3x4xf32>
  %3 = tg.sub %2, %b : tensor<3x4xf32>
  %4 = tg.max %3, %1 : tensor<3x4xf32>
  return %4 : tensor<3x4xf32>
}

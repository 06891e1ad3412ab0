// RUN: tg-run %s --check --input '2x4xf32=1' 2>&1 | filecheck %s
// RUN: not tg-run %s --check --target interpreter --input '2x4xf32=1' 2>&1 | filecheck %s --check-prefix=INTERPRETER
// RUN: not tg-run %s --check --print-signature 2>&1 | filecheck %s --check-prefix=NOTHING

// INTERPRETER: tg-run: error: --check compares with the interpreter: name another target
// NOTHING: tg-run: error: --print-signature runs nothing: it excludes --check

// CHECK-DAG: check: kernel @main_0 ({{.*}}check.mlir:{{[0-9]+}}): 2 elements, bound {{.*}} (reduction of 4 terms of f32, in any order)
// CHECK-DAG: check: the program: 2 elements, bound {{.*}} (rounding of all its ops)
// CHECK-DAG: dense<{{.*}}> : tensor<2x1xf32>
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %0 = tg.exp %x : tensor<2x4xf32>
  %1 = tg.reduce add %0 [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  func.return %1 : tensor<2x1xf32>
}

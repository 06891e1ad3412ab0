// Machine code of programs, beside their LINEARs: it runs as it is.

// RUN: tg-opt %s -p tg-callify,tg-rangeify,tg-optimize,tg-expand,tg-select,tg-linearize,tg-plan,tg-assemble -o %t.mlir
// RUN: filecheck %s --input-file %t.mlir
// CHECK:      builtin.module attributes {tg.target = #tg.target<"cpu"
// CHECK:        tg.program @main_0 {
// CHECK-NEXT:     %{{.*}} = tg.linear {
// CHECK:          %{{.*}} = tg.binary "7f454c46
// CHECK-NEXT:   }

// RUN: tg-run %t.mlir --allow-custom --input 1,2,3 | filecheck %s --check-prefix=RUNS
// RUN: tg-run %t.mlir --allow-custom --input 1,2,3 --target interpreter | filecheck %s --check-prefix=RUNS
// RUNS: dense<[2.0, 4.0, 6.0]> : tensor<3xf32>

// Code that is damaged, or that this machine has not the features for, is an error at it.
// RUN: sed 's/tg.binary "7f454c46/tg.binary "7f454c40/' %t.mlir > %t.damaged.mlir
// RUN: not tg-run %t.damaged.mlir --allow-custom --input 1,2,3 2>&1 | filecheck %s --check-prefix=DAMAGED
// DAMAGED: error: the machine code of @main_0 is no object code for this machine: cannot load object code

// RUN: not tg-opt %s -p 'tg-to-source{target=opencl},tg-assemble' 2>&1 | filecheck %s --check-prefix=TEXT
// TEXT: error: pass tg-assemble: the target opencl has sources, which its own compiler takes: only a CPU or a GPU has machine code

// A whole module at level `llvm`, as an object file.
// RUN: tg-opt %s -p tg-to-llvm -t obj | od -A n -c -N 4 | filecheck %s --check-prefix=ELF
// ELF: 177 E L F

// Linkers are other programs.
// RUN: not tg-opt %s -p tg-to-llvm -t so -o %t.so 2>&1 | filecheck %s --check-prefix=OTHER
// OTHER: it needs --allow-external

func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tg.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}

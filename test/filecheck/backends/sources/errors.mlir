// RUN: not tg-opt %s -t c 2>&1 | filecheck %s --check-prefix=LEVEL
// RUN: not tg-opt %s -p 'tg-to-source{target=cpu output=opencl}' 2>&1 | filecheck %s --check-prefix=GRID
// RUN: not tg-opt %s -p 'tg-to-source{target=c output=fortran}' 2>&1 | filecheck %s --check-prefix=OUTPUT
// RUN: not tg-opt %s -p 'tg-to-source{target=metal}' 2>&1 | filecheck %s --check-prefix=LACKS

// Each is one error: a module at another level, a language for another kind of target, an unknown one, and what a target lacks.

func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = tg.neg %x : tensor<4xf64>
  func.return %0 : tensor<4xf64>
}

// LEVEL: error: target c: tg-render needs level planned, and the module is at level tensor: run tg-callify, tg-rangeify, tg-optimize, tg-expand, tg-select, tg-linearize, tg-plan first
// GRID: error: pass tg-render: the target cpu has no grid, a source in opencl is for one: lower the program for it by 'tg-to-source{target=opencl}'
// OUTPUT: error: pass tg-render: 'fortran' is no output; there are: llvm, gpu, c, opencl, cuda, metal
// LACKS: errors.mlir:9:8: error: pass tg-select: the target metal has no f64

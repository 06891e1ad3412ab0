// RUN: not tg-opt %s -p tg-rangeify 2>&1 | filecheck %s --check-prefix=FUNCTION
// RUN: not tg-opt %s -p tg-callify,tg-optimize 2>&1 | filecheck %s --check-prefix=KERNELS
// RUN: not tg-opt %s -p tg-callify,tg-expand 2>&1 | filecheck %s --check-prefix=EXPAND
// RUN: not tg-opt %s -p 'tg-split{axis=0 factor=2 target=upcast}' 2>&1 | filecheck %s --check-prefix=SPLIT
// RUN: not tg-opt %s -p tg-callify,tg-rangeify,tg-select 2>&1 | filecheck %s --check-prefix=TILES
// RUN: not tg-opt %s -p tg-linearize 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not tg-opt %s -p tg-callify,tg-rangeify,tg-plan 2>&1 | filecheck %s --check-prefix=LINEAR
// RUN: not tg-opt %s -p tg-render 2>&1 | filecheck %s --check-prefix=PLANNED
// RUN: not xdsl-opt %s -p tg-render 2>&1 | filecheck %s --check-prefix=UPSTREAM
// RUN: not tg-opt %s -p tg-callify,tg-callify 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: not tg-opt %s -p tg-callify,tg-to-llvm 2>&1 | filecheck %s --check-prefix=WHOLE
// RUN: not tg-opt %s -p tg-to-llvm,tg-select 2>&1 | filecheck %s --check-prefix=LLVM

// A stage says which passes are missing between the level of what it is given and its own.

// FUNCTION: missing.mlir:29:1: error: pass tg-rangeify: tg-rangeify needs level function, and the module is at level tensor: run tg-callify first
// KERNELS: error: pass tg-optimize: tg-optimize needs level kernels, and the module is at level function: run tg-rangeify first
// EXPAND: error: pass tg-expand: tg-expand needs level kernels, and the module is at level function: run tg-rangeify first
// SPLIT: error: pass tg-split: tg-split needs level kernels, and the module is at level tensor: run tg-callify, tg-rangeify first
// TILES: error: pass tg-select: tg-select needs level tiles, and the module is at level kernels: run tg-optimize, tg-expand first
// TARGET: error: pass tg-linearize: tg-linearize needs level target, and the module is at level tensor: run tg-callify, tg-rangeify, tg-optimize, tg-expand, tg-select first
// LINEAR: error: pass tg-plan: tg-plan needs level linear, and the module is at level kernels: run tg-optimize, tg-expand, tg-select, tg-linearize first
// PLANNED: error: pass tg-render: tg-render needs level planned, and the module is at level tensor: run tg-callify, tg-rangeify, tg-optimize, tg-expand, tg-select, tg-linearize, tg-plan first
// UPSTREAM: tg-render needs level planned, and the module is at level tensor: run tg-callify,
// AGAIN: error: pass tg-callify: tg-callify needs level tensor, and the module is at level function already
// WHOLE: error: pass tg-callify: tg-callify needs level tensor, and the module is at level function already
// LLVM: error: pass tg-select: tg-select needs level tiles, and the module is at level llvm already

func.func @main(%x: tensor<4x4xf32>) -> tensor<1x4xf32> {
  %0 = tg.reduce add %x [0] : tensor<4x4xf32> -> tensor<1x4xf32>
  func.return %0 : tensor<1x4xf32>
}

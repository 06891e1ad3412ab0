// RUN: tg-opt %s -p 'tg-to-source{target=c}' -o %t.c.mlir
// RUN: tg-opt %s -p 'tg-to-source{target=opencl}' -o %t.cl.mlir
// RUN: tg-opt %t.c.mlir -t c | filecheck %s --check-prefix=C
// RUN: tg-opt %t.cl.mlir -t opencl | filecheck %s --check-prefix=OPENCL
// RUN: not tg-opt %t.c.mlir -t opencl 2>&1 | filecheck %s --check-prefix=HAS-C
// RUN: not tg-opt %t.c.mlir -t metal 2>&1 | filecheck %s --check-prefix=HAS-C
// RUN: not tg-opt %t.c.mlir -t cuda 2>&1 | filecheck %s --check-prefix=CUDA
// RUN: not tg-opt %t.cl.mlir -t c 2>&1 | filecheck %s --check-prefix=HAS-CL
// RUN: not tg-opt %t.c.mlir -t llvm 2>&1 | filecheck %s --check-prefix=LLVM
// RUN: not tg-opt %t.c.mlir -t asm 2>&1 | filecheck %s --check-prefix=LLVM
// RUN: sed 's/ in "c"//' %t.c.mlir | not tg-opt -t c 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not tg-opt %s -p 'tg-to-gpu{target=amd:gfx942}' -t ptx 2>&1 | filecheck %s --check-prefix=PTX
// RUN: not tg-opt %s -t llvm 2>&1 | filecheck %s --check-prefix=TENSOR
// RUN: not tg-opt %s -t riscv-asm 2>&1 | filecheck %s --check-prefix=RISCV
// RUN: not tg-opt %s -t wat 2>&1 | filecheck %s --check-prefix=WAT

// An output has the language of -t, or there is an error that says which one the module has.

// C:       #include <stdint.h>
// OPENCL:  __kernel
// HAS-C:   error: target {{opencl|metal}}: @main_0 has a tg.source in c, not in {{opencl|metal}}: print it by -t c, or lower the program on tensors by 'tg-to-source{target={{opencl|metal}}}'
// CUDA:    @main_0 has a tg.source in c, not in cuda: print it by -t c, or lower the program on tensors by 'tg-to-source{target=nvidia:sm_80}'
// HAS-CL:  @main_0 has a tg.source in opencl, not in c: print it by -t opencl
// LLVM:    has no translation to LLVM IR, and the module has sources in c: print them by -t c
// UNKNOWN: error: target c: @main_0 has a tg.source in no stated language: write it behind the text, as `in "c"`
// PTX:     error: target ptx: the gpu.module is for gfx942, print it by -t amdgcn
// TENSOR:  and the module is at level tensor: run tg-callify, {{.*}}tg-render first (tg-to-llvm runs all of these)
// RISCV:   error: target riscv-asm: does not know all operations here: lower it to the dialects of this language first
// WAT:     error: target wat: prints nothing of 'func.func': lower it to the dialects of this language first
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.neg %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

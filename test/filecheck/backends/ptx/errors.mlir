// RUN: not tg-opt %s -t ptx 2>&1 | filecheck %s --check-prefix=CHIP
// RUN: not tg-opt %s -t 'ptx{chip=sm_90 features=+ptx70}' 2>&1 | filecheck %s --check-prefix=VERSION
// RUN: not tg-opt %s -t 'ptx{chip=sm_90}' 2>&1 | filecheck %s --check-prefix=INTRINSIC
// RUN: not tg-opt %s -t 'amdgcn{chip=gfx942}' 2>&1 | filecheck %s --check-prefix=REGISTER
// RUN: not tg-opt %s -t asm 2>&1 | filecheck %s --check-prefix=HOST
// RUN: not tg-opt %S/../asm/options.mlir -t ptx 2>&1 | filecheck %s --check-prefix=NONE

// What LLVM would end the process for is an error.

// CHIP: error: target ptx: nvptx64-nvidia-cuda has no chip 'sm_1', only sm_70,
// VERSION: error: target ptx: sm_90 needs +ptx78, not +ptx70
// INTRINSIC: error: target ptx: nvptx64-nvidia-cuda has no intrinsic 'llvm.sin.f32'
// REGISTER: error: target amdgcn: the gpu.module is for sm_1, print it by -t ptx
// HOST: error: target asm: 'gpu.module' in a module has no translation to LLVM IR: print it by the target of its assembly, which --help lists
// NONE: error: target ptx: expected a single gpu.module, which tg-to-gpu makes; found 0

gpu.module @kernels [#nvvm.target<chip = "sm_1">] {
  llvm.func @k(%x: f32, %p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %s = llvm.intr.sin(%x) : (f32) -> f32
    llvm.store %s, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
    llvm.return
  }
}

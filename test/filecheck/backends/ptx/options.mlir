// RUN: tg-opt %s -t ptx | filecheck %s --check-prefixes=CHECK,STATED
// RUN: tg-opt %s -t 'ptx{chip=sm_90a features=+ptx83}' | filecheck %s --check-prefixes=CHECK,GIVEN

// The chip is that of the `gpu.module`, unless the options name another one.

// STATED: .version 7.0
// STATED: .target sm_80
// GIVEN: .version 8.3
// GIVEN: .target sm_90a
// CHECK: .visible .entry k(
// CHECK: .reqntid 64, 2, 1
// CHECK: mov.u32 %{{.*}}, %ctaid.z;
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64, 2, 1>} {
    %z = nvvm.read.ptx.sreg.ctaid.z : i32
    llvm.store %z, %p {alignment = 4 : i64} : i32, !llvm.ptr<1>
    llvm.return
  }
}

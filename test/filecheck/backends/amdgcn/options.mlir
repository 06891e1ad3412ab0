// RUN: tg-opt %s -t amdgcn | filecheck %s --check-prefixes=CHECK,STATED
// RUN: tg-opt %s -t 'amdgcn{chip=gfx1100}' | filecheck %s --check-prefixes=CHECK,GIVEN

// STATED: .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
// GIVEN: .amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
// CHECK: .amdhsa_kernel k
// CHECK: .max_flat_workgroup_size: 64
gpu.module @kernels [#rocdl.target<chip = "gfx942">] {
  llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel, rocdl.flat_work_group_size = "64,64"} {
    %z = rocdl.workgroup.id.z : i32
    llvm.store %z, %p {alignment = 4 : i64} : i32, !llvm.ptr<1>
    llvm.return
  }
}

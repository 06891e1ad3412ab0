// REQUIRES: mlir
// RUN: tg-opt %s | mlir-opt | tg-opt | mlir-opt | filecheck %s

// Upstream reads what we print, and we read what it prints.

// CHECK: gpu.module @nvidia [#nvvm.target<O = 3, chip = "sm_90">]
// CHECK: nvvm.read.ptx.sreg.tid.x : i32
// CHECK: nvvm.barrier0
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32 -> f32
// CHECK: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32 -> i32
// CHECK: gpu.module @amd [#rocdl.target<chip = "gfx942">]
// CHECK: rocdl.workitem.id.x : i32
// CHECK: rocdl.s.barrier
// CHECK: rocdl.mbcnt.lo %{{.*}}, %{{.*}} : (i32, i32) -> i32
// CHECK: rocdl.mbcnt.hi %{{.*}}, %{{.*}} : (i32, i32) -> i32
// CHECK: rocdl.ds_bpermute %{{.*}}, %{{.*}} : (i32, i32) -> i32
// CHECK: gpu.launch_func @nvidia::@k
gpu.module @nvidia [#nvvm.target<O = 3, chip = "sm_90">] {
  llvm.func @k(%n: i64) attributes {gpu.kernel, nvvm.kernel} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    %1 = nvvm.read.ptx.sreg.tid.y : i32
    %2 = nvvm.read.ptx.sreg.tid.z : i32
    %3 = nvvm.read.ptx.sreg.ctaid.x : i32
    %4 = nvvm.read.ptx.sreg.ctaid.y : i32
    %5 = nvvm.read.ptx.sreg.ctaid.z : i32
    nvvm.barrier0
    %f = llvm.mlir.constant(1.0 : f32) : f32
    %6 = nvvm.shfl.sync bfly %0, %f, %1, %2 : f32 -> f32
    %7 = nvvm.shfl.sync idx %0, %3, %1, %2 : i32 -> i32
    llvm.return
  }
}
gpu.module @amd [#rocdl.target<chip = "gfx942">] {
  llvm.func @k(%n: i64) attributes {gpu.kernel, rocdl.kernel} {
    %0 = rocdl.workitem.id.x : i32
    %1 = rocdl.workitem.id.y : i32
    %2 = rocdl.workitem.id.z : i32
    %3 = rocdl.workgroup.id.x : i32
    %4 = rocdl.workgroup.id.y : i32
    %5 = rocdl.workgroup.id.z : i32
    rocdl.s.barrier
    %6 = rocdl.mbcnt.lo %0, %1 : (i32, i32) -> i32
    %7 = rocdl.mbcnt.hi %0, %6 : (i32, i32) -> i32
    %8 = rocdl.ds_bpermute %7, %2 : (i32, i32) -> i32
    llvm.return
  }
}
module attributes {gpu.container_module} {
  gpu.module @nvidia {
    llvm.func @k(%n: i64) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  func.func @main(%n: i64, %i: index, %s: i32) {
    gpu.launch_func @nvidia::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) : i64 args(%n : i64)
    gpu.launch_func @nvidia::@k clusters in (%i, %i, %i) blocks in (%i, %i, %i) threads in (%i, %i, %i) dynamic_shared_memory_size %s args(%n : i64)
    %t = gpu.launch_func async @nvidia::@k blocks in (%i, %i, %i) threads in (%i, %i, %i) args(%n : i64)
    %u = gpu.launch_func async [%t] @nvidia::@k blocks in (%i, %i, %i) threads in (%i, %i, %i) args(%n : i64)
    func.return
  }
}

// REQUIRES: mlir
// RUN: tg-opt %s | mlir-opt | tg-opt | mlir-opt | filecheck %s

// Upstream reads what we print, and we read what it prints.

// CHECK: gpu.module @nvidia [#nvvm.target<O = 3, chip = "sm_90">]
// CHECK: nvvm.read.ptx.sreg.tid.x : i32
// CHECK: nvvm.barrier0
// CHECK: gpu.module @amd [#rocdl.target<chip = "gfx942">]
// CHECK: rocdl.workitem.id.x : i32
// CHECK: rocdl.s.barrier
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

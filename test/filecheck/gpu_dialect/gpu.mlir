// RUN: tg-opt %s | tg-opt | filecheck %s
// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s

// CHECK: gpu.module @empty {
// CHECK: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx80", flags = {fast}>, #rocdl.target<chip = "gfx942", abi = "600">] attributes {x} {
gpu.module @empty {
}
gpu.module @kernels [#nvvm.target<chip = "sm_90", O = 3, features = "+ptx80", flags = {fast}>, #rocdl.target<chip = "gfx942", abi = "600", O = 2>] attributes {x} {
  llvm.func @k(%n: i64) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

// CHECK:      gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) : i64 args(%n : i64)
// CHECK-NEXT: gpu.launch_func @kernels::@k blocks in (%i, %i, %i) threads in (%i, %i, %i) dynamic_shared_memory_size %s args(%n : i64) {y}
// CHECK-NEXT: %t = gpu.launch_func async @kernels::@k clusters in (%i, %i, %i) blocks in (%i, %i, %i) threads in (%i, %i, %i)
// CHECK-NEXT: %u = gpu.launch_func async [%t] <%n : i64> @kernels::@k blocks in (%i, %i, %i) threads in (%i, %i, %i)
func.func @main(%n: i64, %i: index, %s: i32) {
  gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) : i64 args(%n : i64)
  gpu.launch_func @kernels::@k blocks in (%i, %i, %i) threads in (%i, %i, %i) dynamic_shared_memory_size %s args(%n : i64) {y}
  %t = gpu.launch_func async @kernels::@k clusters in (%i, %i, %i) blocks in (%i, %i, %i) threads in (%i, %i, %i)
  %u = gpu.launch_func async [%t] <%n : i64> @kernels::@k blocks in (%i, %i, %i) threads in (%i, %i, %i)
  func.return
}

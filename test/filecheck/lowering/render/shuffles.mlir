// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_90" mode=heuristic}' | filecheck %s --check-prefix=NVIDIA
// RUN: tg-opt %s -p 'tg-to-gpu{target="amd:gfx942" mode=heuristic}' | filecheck %s --check-prefix=AMD
// RUN: tg-opt %s -p 'tg-to-gpu{target="amd:gfx942" mode=heuristic}' -t amdgcn | filecheck %s --check-prefix=GCN
// RUN: tg-opt %s -p 'tg-to-source{target="nvidia:sm_90" mode=heuristic}' -t cuda | filecheck %s --check-prefix=CUDA
// RUN: tg-opt %s -p 'tg-to-source{target=metal mode=heuristic}' -t metal | filecheck %s --check-prefix=METAL
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target="nvidia:sm_90"},tg-optimize{mode=heuristic},tg-expand,tg-select,tg-linearize,tg-plan,tg-render{target=opencl}' -t opencl | filecheck %s --check-prefix=OPENCL

// SHUFFLE in each output. 64 bits are two registers, 8 bits are widened. OpenCL C has none: through LOCAL memory.

// NVIDIA-LABEL: llvm.func @floats_0
// NVIDIA-DAG: %[[MASK:.+]] = llvm.mlir.constant(-1 : i32) : i32
// NVIDIA-DAG: %[[LAST:.+]] = llvm.mlir.constant(31 : i32) : i32
// NVIDIA-DAG: %[[ONE:.+]] = llvm.mlir.constant(1 : i32) : i32
// NVIDIA: nvvm.shfl.sync bfly %[[MASK]], %{{.+}}, %[[ONE]], %[[LAST]] : f32 -> f32
// AMD-LABEL: llvm.func @floats_0
// AMD: %[[LOW:.+]] = rocdl.mbcnt.lo %{{.+}}, %{{.+}} : (i32, i32) -> i32
// AMD: %[[N:.+]] = rocdl.mbcnt.hi %{{.+}}, %[[LOW]] : (i32, i32) -> i32
// AMD: %[[OTHER:.+]] = llvm.xor %[[N]], %{{.+}} : i32
// AMD: %[[AT:.+]] = llvm.shl %[[OTHER]], %{{.+}} : i32
// AMD: rocdl.ds_bpermute %[[AT]], %{{.+}} : (i32, i32) -> i32
// GCN-LABEL: floats_0:
// GCN: ds_bpermute_b32
// CUDA-LABEL: floats_0
// CUDA: float t[[N:[0-9]+]] = __shfl_xor_sync(0xffffffff, {{.+}}, 1);
// METAL-LABEL: floats_0
// METAL: float t[[N:[0-9]+]] = simd_shuffle_xor({{.+}}, 1);
// OPENCL-LABEL: floats_0
// OPENCL: shared[[B:[0-9]*]][{{.*}}] = {{.*}};
// OPENCL-NEXT: barrier(
// OPENCL-NEXT: float [[V:.+]] = shared[[B]][{{.*}}^ 1{{.*}}];
// OPENCL-NEXT: barrier(
func.func @floats(%x: tensor<4096x64xf32>) -> tensor<4096x1xf32> {
  %t = tg.reduce add %x [1] : tensor<4096x64xf32> -> tensor<4096x1xf32>
  return %t : tensor<4096x1xf32>
}

// NVIDIA-LABEL: llvm.func @longs_0
// NVIDIA: llvm.trunc %{{.+}} : i64 to i32
// NVIDIA: nvvm.shfl.sync bfly %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : i32 -> i32
// NVIDIA: llvm.trunc %{{.+}} : i64 to i32
// NVIDIA: nvvm.shfl.sync bfly %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : i32 -> i32
// NVIDIA: llvm.or %{{.+}}, %{{.+}} : i64
// CUDA-LABEL: longs_0
// CUDA: long long t{{[0-9]+}} = __shfl_xor_sync(0xffffffff, {{.+}}, 1);
// METAL-LABEL: longs_0
// METAL: long t{{[0-9]+}} = as_type<long>(simd_shuffle_xor(as_type<uint2>((long){{.+}}), 1));
func.func @longs(%x: tensor<4096x64xi64>) -> tensor<4096x1xi64> {
  %t = tg.reduce add %x [1] : tensor<4096x64xi64> -> tensor<4096x1xi64>
  return %t : tensor<4096x1xi64>
}

// NVIDIA-LABEL: llvm.func @bytes_0
// NVIDIA: llvm.zext %{{.+}} : i8 to i32
// NVIDIA: nvvm.shfl.sync bfly %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : i32 -> i32
// NVIDIA: llvm.trunc %{{.+}} : i32 to i8
// CUDA-LABEL: bytes_0
// CUDA: signed char t{{[0-9]+}} = (signed char)__shfl_xor_sync(0xffffffff, {{.+}}, 1);
// METAL-LABEL: bytes_0
// METAL: char t{{[0-9]+}} = (char)simd_shuffle_xor((uint){{.+}}, 1);
func.func @bytes(%x: tensor<4096x64xi8>) -> tensor<4096x1xi8> {
  %t = tg.reduce max %x [1] : tensor<4096x64xi8> -> tensor<4096x1xi8>
  return %t : tensor<4096x1xi8>
}

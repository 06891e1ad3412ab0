// RUN: tg-opt %s -t opencl | filecheck %s --check-prefix=OPENCL
// RUN: sed 's/"opencl"/"nvidia:sm_90"/' %s > %t.cuda.mlir && tg-opt %t.cuda.mlir -t cuda | filecheck %s --check-prefix=CUDA
// RUN: sed 's/"opencl"/"metal"/' %s > %t.metal.mlir && tg-opt %t.metal.mlir -t metal | filecheck %s --check-prefix=METAL

// A kernel for a grid: workgroups reverse 64 elements each by way of memory that they share. A vector of known alignment is one
// access; CUDA knows that of its own arrays, and of parameters only if the CALLs say it.

#g = #tg.place<global>
#l = #tg.place<local>
#r = #tg.place<reg>
!i = tensor<index>
builtin.module attributes {tg.target = #tg.target<"opencl">} {
  tg.program @reverse {
    %0 = tg.linear {
      %out = tg.param 0 : tensor<256xf32, #g>
      %x = tg.param 1 : tensor<256xf32, #g>
      %n = tg.const 4 : !i
      %m = tg.const 16 : !i
      %four = tg.const 4 : !i
      %last = tg.const 60 : !i
      %group = tg.special "gidx0" to %n : !i
      %item = tg.special "lidx0" to %m : !i
      %tile = tg.buffer 0 : tensor<64xf32, #l>
      %s0 = tg.mul %item, %four : !i
      %lanes = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
      %at = tg.add %lanes, %s0 : (tensor<4xindex>, !i) -> tensor<4xindex>
      %size = tg.const 64 : !i
      %start = tg.mul %group, %size : !i
      %from = tg.add %at, %start : (tensor<4xindex>, !i) -> tensor<4xindex>
      %p = tg.index %x[%from] : (tensor<256xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
      %v = tg.load %p : tensor<4xf32, #g> -> tensor<4xf32>
      %two = tg.const 2.0 : tensor<f32>
      %w = tg.mul %v, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      %q = tg.index %tile[%at] : (tensor<64xf32, #l>, tensor<4xindex>) -> tensor<4xf32, #l>
      %st = tg.store %q, %w : tensor<4xf32, #l>, tensor<4xf32>
      %b = tg.barrier %st : !tg.void
      %minus = tg.const -4 : !i
      %back = tg.mul %item, %minus : !i
      %other = tg.add %back, %last : !i
      %oat = tg.add %lanes, %other : (tensor<4xindex>, !i) -> tensor<4xindex>
      %r = tg.index %tile[%oat] : (tensor<64xf32, #l>, tensor<4xindex>) -> tensor<4xf32, #l>
      %y = tg.load %r : tensor<4xf32, #l> -> tensor<4xf32>
      %o = tg.index %out[%from] : (tensor<256xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
      %e = tg.store %o, %y : tensor<4xf32, #g>, tensor<4xf32>
      %k = tg.sink %e : !tg.void
    }
  }
}

// OPENCL:      #pragma OPENCL FP_CONTRACT OFF
// OPENCL:      __kernel __attribute__((reqd_work_group_size(16, 1, 1)))
// OPENCL-NEXT: void reverse(__global float *out, const __global float *x) {
// OPENCL-NEXT:   int group = get_group_id(0);
// OPENCL-NEXT:   int item = get_local_id(0);
// OPENCL-NEXT:   __attribute__((aligned(16))) __local float tile[64];
// OPENCL-NEXT:   float4 v = vload4(0, x + item * 4 + group * 64);
// OPENCL-NEXT:   vstore4((float4)(v.x * 2.0f, v.y * 2.0f, v.z * 2.0f, v.w * 2.0f), 0, tile + item * 4);
// OPENCL-NEXT:   barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
// OPENCL-NEXT:   float4 y = vload4(0, tile + item * -4 + 60);
// OPENCL-NEXT:   vstore4(y, 0, out + item * 4 + group * 64);
// OPENCL-NEXT: }

// CUDA:      extern "C" __global__ void __launch_bounds__(16)
// CUDA-NEXT: reverse(float *out, const float *x) {
// CUDA-NEXT:   int group = blockIdx.x;
// CUDA-NEXT:   int item = threadIdx.x;
// CUDA-NEXT:   __align__(16) __shared__ float tile[64];
// CUDA-NEXT:   int at0 = item * 4 + group * 64;
// CUDA-NEXT:   *(float4 *)(tile + item * 4) = make_float4(x[at0] * 2.0f, x[at0 + 1] * 2.0f, x[at0 + 2] * 2.0f, x[at0 + 3] * 2.0f);
// CUDA-NEXT:   __syncthreads();
// CUDA-NEXT:   float4 y = *(const float4 *)(tile + item * -4 + 60);
// CUDA:        out[at1 + 3] = y.w;

// METAL:      #include <metal_stdlib>
// METAL-NEXT: using namespace metal;
// METAL:      kernel void reverse(device float *out, const device float *x, uint3 gid {{\[\[}}threadgroup_position_in_grid]], uint3 lid {{\[\[}}thread_position_in_threadgroup]]) {
// METAL-NEXT:   int group = gid.x;
// METAL-NEXT:   int item = lid.x;
// METAL-NEXT:   alignas(16) threadgroup float tile[64];
// METAL-NEXT:   float4 v = *(device const packed_float4 *)(x + (item * 4) + (group * 64));
// METAL-NEXT:   *(threadgroup packed_float4 *)(tile + item * 4) = float4(v.x * 2.0f, v.y * 2.0f, v.z * 2.0f, v.w * 2.0f);
// METAL-NEXT:   threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);

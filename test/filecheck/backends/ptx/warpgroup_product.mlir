// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_90a" mode=heuristic}' -t ptx | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target="nvidia:sm_90a"},tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=SCHEDULE
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target="nvidia:sm_90a"},tg-optimize{mode=heuristic},tg-expand,tg-select,tg-linearize' | filecheck %s --check-prefix=LINEAR
// RUN: tg-opt %s -p 'tg-to-source{target="nvidia:sm_90a" mode=heuristic}' -t cuda | filecheck %s --check-prefix=CUDA

// A product by the tensor cores of Hopper. Four warps together multiply blocks of shared memory, which
// all warps copy before they are needed, in blocks of 8 rows of 128 bytes, swizzled.

// SCHEDULE-DAG: tg.buffer {{[0-9]+}} : tensor<{{[0-9x]+}}x8x8x8xf16, #tg.place<local>>
// SCHEDULE:     tg.reduce add {{.*}} wmma <64x64x64, threads = 128, a = ["-", "-", "-", "-", "-", "-", "-", "k0", "k1", "k2", "k3^m0", "k4^m1", "k5^m2", "m0"
// SCHEDULE:     #tg.opt<stage 2, 2, local, swizzle>, #tg.opt<stage 1, 2, local, swizzle>
// SCHEDULE:     #tg.opt<pipeline 2, 3>

// The sums are one vector of registers. No buffer is cleared, and a block needs one BARRIER.
// LINEAR:       tg.buffer {{[0-9]+}} : tensor<32xf32, #tg.place<reg>>
// LINEAR-NOT:   tg.barrier
// LINEAR:       tg.range 2 reduce
// LINEAR:       tg.barrier
// LINEAR-NOT:   tg.barrier
// LINEAR-DAG:   tg.load {{.*}} : tensor<4096xf16, #tg.place<local>> -> tensor<4096xf16>
// LINEAR-DAG:   tg.load {{.*}} : tensor<32xf32, #tg.place<reg>> -> tensor<32xf32>
// LINEAR:       tg.wmma {{.*}} config <64x64x64, threads = 128
// LINEAR-NOT:   tg.barrier

// CHECK:        .target sm_90a
// CHECK:        .shared
// CHECK:        cp.async.cg.shared.global
// CHECK-DAG:    wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{.*}}, a, b, p, 1, 1, 0, 1; {{.*}} wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
// CHECK:        cp.async.wait_group
// CHECK:        fence.proxy.async.shared::cta;
// CHECK:        bar.sync
// CHECK:        cp.async.cg.shared.global

// CUDA:         static __device__ inline void tg_wgmma_m64n64k64_f16_kn(float *d, const void *a, const void *b) {
// CUDA:         a_operand = ((unsigned long long)__cvta_generic_to_shared(a) & 262143) / 16 | 4611686293305360384ULL;
// CUDA:         __half *shared0 = (__half *)
// CUDA:         fence.proxy.async
// CUDA-NEXT:    __syncthreads();
// CUDA:         tg_wgmma_m64n64k64_f16_kn(

func.func @main(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>) -> tensor<256x256xf32> {
  %0 = tg.reshape %a [256, 1, 256] : tensor<256x256xf16> -> tensor<256x1x256xf16>
  %1 = tg.expand %0 [256, 256, 256] : tensor<256x1x256xf16> -> tensor<256x256x256xf16>
  %2 = tg.permute %b [1, 0] : tensor<256x256xf16> -> tensor<256x256xf16>
  %3 = tg.reshape %2 [1, 256, 256] : tensor<256x256xf16> -> tensor<1x256x256xf16>
  %4 = tg.expand %3 [256, 256, 256] : tensor<1x256x256xf16> -> tensor<256x256x256xf16>
  %5 = tg.cast %1 to f32 : tensor<256x256x256xf16> -> tensor<256x256x256xf32>
  %6 = tg.cast %4 to f32 : tensor<256x256x256xf16> -> tensor<256x256x256xf32>
  %7 = tg.mul %5, %6 : tensor<256x256x256xf32>
  %8 = tg.reduce add %7 [2] : tensor<256x256x256xf32> -> tensor<256x256x1xf32>
  %9 = tg.reshape %8 [256, 256] : tensor<256x256x1xf32> -> tensor<256x256xf32>
  return %9 : tensor<256x256xf32>
}

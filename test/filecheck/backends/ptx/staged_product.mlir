// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_80" mode=heuristic}' -t ptx | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target="nvidia:sm_80"},tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=SCHEDULE
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target="nvidia:sm_80"},tg-optimize{mode=heuristic},tg-expand,tg-select,tg-linearize' | filecheck %s --check-prefix=LINEAR

// RUN: tg-opt %s -p 'tg-to-source{target="nvidia:sm_80" mode=heuristic}' -t cuda | filecheck %s --check-prefix=CUDA

// A product by tensor cores. The warps of a workgroup copy blocks of both factors to shared memory, in
// the order of core matrices, while they multiply the blocks before. Each warp loads its fragments by
// ldmatrix, and keeps its sums in registers from block to block.

// SCHEDULE-DAG: tg.buffer {{[0-9]+}} : tensor<{{[0-9]+}}x8x4x8x1x8xf16, #tg.place<local>>
// SCHEDULE:     tg.reduce add {{.*}} wmma <32x32x32, threads = 32, a = ["-", "-", "-", "-", "-", "k0", "k1", "k2", "m0"
// SCHEDULE:     #tg.opt<stage 2, 2, local, cores>, #tg.opt<stage 1, 2, local, cores>
// SCHEDULE:     #tg.opt<pipeline 2, 4>

// LINEAR:       tg.special "lidx0"
// LINEAR-NOT:   tensor<{{[0-9x]+}}f32, #tg.place<local>>
// LINEAR:       tg.buffer {{[0-9]+}} : tensor<32xf32, #tg.place<reg>>
// LINEAR:       tg.range 2 reduce
// LINEAR:       tg.barrier
// LINEAR-NOT:   tg.barrier
// LINEAR:       tg.wmma
// LINEAR-NOT:   tg.barrier
// The results are stored in loops, which compilers unroll.
// LINEAR-COUNT-3: tg.range {{[0-9]+}} loop
// LINEAR:       tg.load {{.*}} : tensor<2xf32, #tg.place<reg>>
// LINEAR:       tg.store
// LINEAR-NOT:   tg.store

// CHECK-DAG:    .shared
// CHECK-DAG:    cp.async.cg.shared.global
// CHECK-DAG:    cp.async.wait_group
// CHECK-DAG:    bar.sync
// CHECK-DAG:    mov.u32 l, %laneid
// CHECK-DAG:    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a0, a1, a2, a3}, [p+0];
// CHECK-DAG:    ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {b0, b1, b2, b3}, [q+0];
// CHECK-DAG:    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

// CUDA:         static __device__ inline void tg_ldmatrix_m32n32k32_f16_kn(float *d, const void *a, const void *b) {
// CUDA-NEXT:    a_operand = (unsigned long long)__cvta_generic_to_shared(a);
// CUDA:         mov.u32 l, %%laneid
// CUDA:         #pragma unroll

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

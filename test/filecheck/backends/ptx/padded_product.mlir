// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_90a" mode=heuristic}' -t ptx | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target="nvidia:sm_90a"},tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=SCHEDULE
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target="nvidia:sm_90a"},tg-optimize{mode=heuristic},tg-expand,tg-select,tg-linearize' | filecheck %s --check-prefix=LINEAR
// RUN: tg-opt %s -p 'tg-to-source{target="nvidia:sm_90a" mode=heuristic}' -t cuda | filecheck %s --check-prefix=CUDA

// A product whose extents are no multiples of the tiles of `wgmma`: what is past the end is 0 in
// shared memory, so that the sum has no mask. Runs of 16 bytes are copied whole or not at all.

// SCHEDULE-NOT: tg.where {{.*}} : (tensor<i1>, tensor<f{{[0-9]+}}>
// SCHEDULE:     tg.reduce add {{.*}} wmma <64x64x64, threads = 128
// SCHEDULE:     #tg.opt<stage 2, 2, local, swizzle>, #tg.opt<stage 1, 2, local, swizzle>
// SCHEDULE:     #tg.opt<pipeline 2, 4>

// LINEAR-COUNT-4: tg.load {{.*}} alt {{.*}} gate {{.*}} : tensor<8xf16, #tg.place<global>>, tensor<8xf16>, tensor<i1> -> tensor<8xf16>
// LINEAR:         tg.wmma {{.*}} config <64x64x64, threads = 128

// CHECK-NOT:      ld.global
// CHECK-COUNT-2:  cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16, %r{{[0-9]+}};
// CHECK:          wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK-COUNT-2:  cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16, %r{{[0-9]+}};
// CHECK-NOT:      ld.global

// CUDA:           asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
// CUDA-NEXT:          :: "r"((unsigned)__cvta_generic_to_shared(shared0
// CUDA-NEXT:             "l"(__cvta_generic_to_global(a + ({{.*}} < {{125|1000}} ? {{.*}} : 0))), "r"({{.*}} < {{125|1000}} ? 16 : 0) : "memory");
// CUDA:           tg_wgmma_m64n64k64_f16_kn(

func.func @main(%a: tensor<1000x1000xf16>, %b: tensor<1000x1000xf16>) -> tensor<1000x1000xf32> {
  %0 = tg.reshape %a [1000, 1, 1000] : tensor<1000x1000xf16> -> tensor<1000x1x1000xf16>
  %1 = tg.expand %0 [1000, 1000, 1000] : tensor<1000x1x1000xf16> -> tensor<1000x1000x1000xf16>
  %2 = tg.permute %b [1, 0] : tensor<1000x1000xf16> -> tensor<1000x1000xf16>
  %3 = tg.reshape %2 [1, 1000, 1000] : tensor<1000x1000xf16> -> tensor<1x1000x1000xf16>
  %4 = tg.expand %3 [1000, 1000, 1000] : tensor<1x1000x1000xf16> -> tensor<1000x1000x1000xf16>
  %5 = tg.cast %1 to f32 : tensor<1000x1000x1000xf16> -> tensor<1000x1000x1000xf32>
  %6 = tg.cast %4 to f32 : tensor<1000x1000x1000xf16> -> tensor<1000x1000x1000xf32>
  %7 = tg.mul %5, %6 : tensor<1000x1000x1000xf32>
  %8 = tg.reduce add %7 [2] : tensor<1000x1000x1000xf32> -> tensor<1000x1000x1xf32>
  %9 = tg.reshape %8 [1000, 1000] : tensor<1000x1000x1xf32> -> tensor<1000x1000xf32>
  return %9 : tensor<1000x1000xf32>
}

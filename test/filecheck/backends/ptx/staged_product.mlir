// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_90" mode=heuristic}' -t ptx | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target="nvidia:sm_90"},tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=SCHEDULE
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target="nvidia:sm_90"},tg-optimize{mode=heuristic},tg-expand,tg-select,tg-linearize' | filecheck %s --check-prefix=LINEAR

// A product by tensor cores. The warps of a workgroup copy blocks of both factors to shared memory
// while they multiply the blocks before. A lane keeps its sums in registers from block to block.

// SCHEDULE-DAG: tg.buffer {{[0-9]+}} : tensor<2x128x40xf16, #tg.place<local>>
// SCHEDULE-DAG: tg.buffer {{[0-9]+}} : tensor<2x32x72xf16, #tg.place<local>>
// SCHEDULE:     tg.reduce add {{.*}} wmma <16x8x16
// SCHEDULE:     #tg.opt<stage 1, 2, local, pad>
// SCHEDULE:     #tg.opt<pipeline 2, 2>

// LINEAR:       tg.special "lidx0"
// LINEAR-NOT:   tensor<{{[0-9x]+}}f32, #tg.place<local>>
// LINEAR:       tg.buffer {{[0-9]+}} : tensor<64xf32, #tg.place<reg>>
// LINEAR:       tg.range 2 reduce
// LINEAR:       tg.barrier
// LINEAR-NOT:   tg.barrier
// LINEAR:       tg.wmma
// LINEAR-NOT:   tg.barrier

// CHECK-DAG:    .shared
// CHECK-DAG:    cp.async.cg.shared.global
// CHECK-DAG:    cp.async.wait_group
// CHECK-DAG:    bar.sync
// CHECK-DAG:    ld.shared.b32
// CHECK-DAG:    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

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

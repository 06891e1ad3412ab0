// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_80" mode="heuristic:tf32"}' -t ptx | filecheck %s
// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_80" mode=heuristic}' -t ptx | filecheck %s --check-prefix=EXACT
// RUN: not tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode="heuristic:tf64"}' 2>&1 | filecheck %s --check-prefix=MODE

// A product of f32 uses the tensor cores where its factors may be rounded to tf32, and is exact elsewhere.

// CHECK-DAG:  cp.async.cg.shared.global
// CHECK-DAG:  cvt.rna.tf32.f32
// CHECK-DAG:  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32

// EXACT-NOT:  mma.sync
// EXACT:      fma.rn.f32
// EXACT-NOT:  mma.sync

// MODE: error: pass tg-optimize: mode 'heuristic:tf64' is not one of the modes there are: none, heuristic, heuristic:tf32, explicit:OPTS, beam:N

func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %c0 = tg.reshape %a [256, 256, 1] : tensor<256x256xf32> -> tensor<256x256x1xf32>
  %c1 = tg.expand %c0 [256, 256, 256] : tensor<256x256x1xf32> -> tensor<256x256x256xf32>
  %d0 = tg.reshape %b [1, 256, 256] : tensor<256x256xf32> -> tensor<1x256x256xf32>
  %d1 = tg.expand %d0 [256, 256, 256] : tensor<1x256x256xf32> -> tensor<256x256x256xf32>
  %p = tg.mul %c1, %d1 : tensor<256x256x256xf32>
  %s = tg.reduce add %p [1] : tensor<256x256x256xf32> -> tensor<256x1x256xf32>
  %r = tg.reshape %s [256, 256] : tensor<256x1x256xf32> -> tensor<256x256xf32>
  func.return %r : tensor<256x256xf32>
}

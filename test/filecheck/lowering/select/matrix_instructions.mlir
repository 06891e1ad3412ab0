// RUN: tg-opt %s -p "tg-select{target=nvidia:sm_80}" | filecheck %s
// RUN: tg-opt %s -p "tg-select{target=nvidia:sm_80},tg-linearize,tg-plan,tg-render{output=gpu}" | filecheck %s --check-prefix=LLVM
// RUN: not tg-opt %s -p "tg-select{target=cpu features=avx2}" 2>&1 | filecheck %s --check-prefix=CPU

// WMMA of registers is INS; its factors are rounded first, as tf32. INS of fragments gets whole registers.
// CPU: the target cpu has no 16x8x8 wmma of 32 threads that multiplies f32 and adds f32

#g = #tg.place<global>
tg.kernel @k {
  %o = tg.param 0 : tensor<32x4xf32, #g>
  %pa = tg.param 1 : tensor<32x4xf32, #g>
  %pb = tg.param 2 : tensor<32x2xf32, #g>
  %ph = tg.param 3 : tensor<32x8xf16, #g>
  %n = tg.const 32 : tensor<index>
  %l = tg.range 0 warp to %n : tensor<index>
  %xo = tg.index %o[%l] : (tensor<32x4xf32, #g>, tensor<index>) -> tensor<4xf32, #g>
  %xa = tg.index %pa[%l] : (tensor<32x4xf32, #g>, tensor<index>) -> tensor<4xf32, #g>
  %xb = tg.index %pb[%l] : (tensor<32x2xf32, #g>, tensor<index>) -> tensor<2xf32, #g>
  %xh = tg.index %ph[%l] : (tensor<32x8xf16, #g>, tensor<index>) -> tensor<8xf16, #g>
  %a = tg.load %xa : tensor<4xf32, #g> -> tensor<4xf32>
  %b = tg.load %xb : tensor<2xf32, #g> -> tensor<2xf32>
  %h = tg.load %xh : tensor<8xf16, #g> -> tensor<8xf16>
  // CHECK-COUNT-6: tg.ins "nvidia:sm_80.cvt.rna.tf32.f32"(%{{.*}}) : tensor<f32> -> tensor<ui32>
  // CHECK: %[[C:.*]] = tg.ins "nvidia:sm_80.mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<4xui32>, tensor<2xui32>, tensor<4xf32>) -> tensor<4xf32>
  // LLVM-COUNT-6: llvm.inline_asm asm_dialect = att "cvt.rna.tf32.f32 $0, $1;", "=r,f"
  // LLVM: llvm.inline_asm has_side_effects asm_dialect = att "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"
  %c = tg.wmma %a, %b, %a config <16x8x8, threads = 32, a = ["k0", "k1", "m0", "m1", "m2", "m3", "k2"], b = ["k0", "k1", "n0", "n1", "n2", "k2"], c = ["n1", "n2", "m0", "m1", "m2", "n0", "m3"]> : (tensor<4xf32>, tensor<2xf32>, tensor<4xf32>) -> tensor<4xf32>
  %i0 = tg.vconst [0, 1, 4, 5] : tensor<4xindex>
  %yh = tg.index %ph[%l, %i0] : (tensor<32x8xf16, #g>, tensor<index>, tensor<4xindex>) -> tensor<4xf16, #g>
  %q = tg.load %yh : tensor<4xf16, #g> -> tensor<4xf16>
  // CHECK: tg.ins "nvidia.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"(%{{.*}}, %{{.*}}, %[[C]]) : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
  // LLVM: llvm.inline_asm has_side_effects asm_dialect = att "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  %d = tg.ins "nvidia.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"(%h, %q, %c) : (tensor<8xf16>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
  %s = tg.store %xo, %d : tensor<4xf32, #g>, tensor<4xf32>
  %e = tg.end %s over %l : !tg.void
  %k = tg.sink %e : !tg.void
}
func.func @main(%o: tensor<32x4xf32, #tg.place<"CPU", global>> {tg.output}, %a: tensor<32x4xf32, #tg.place<"CPU", global>>, %b: tensor<32x2xf32, #tg.place<"CPU", global>>, %h: tensor<32x8xf16, #tg.place<"CPU", global>>) {
  %0 = tg.call @k(%o, %a, %b, %h) : (tensor<32x4xf32, #tg.place<"CPU", global>>, tensor<32x4xf32, #tg.place<"CPU", global>>, tensor<32x2xf32, #tg.place<"CPU", global>>, tensor<32x8xf16, #tg.place<"CPU", global>>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}

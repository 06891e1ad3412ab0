// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_80" mode="explicit:tc 2, -1, 0, 1"}' -t ptx | filecheck %s
// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_80" mode="explicit:tc 2, -1, 0, 1"}' | filecheck %s --check-prefix=LLVM
// RUN: sed 's/xf16/xbf16/g' %s | tg-opt -p 'tg-to-gpu{target="nvidia:sm_80" mode="explicit:tc 2, -1, 0, 1"}' -t ptx | filecheck %s --check-prefix=BF16
// RUN: sed 's/xf16/xf8E4M3FN/g' %s | tg-opt -p 'tg-to-gpu{target="nvidia:sm_90" mode="explicit:tc 2, -1, 0, 1"}' -t ptx | filecheck %s --check-prefix=E4M3
// RUN: sed 's/xf16/xf8E5M2/g' %s | tg-opt -p 'tg-to-gpu{target="nvidia:sm_90" mode="explicit:tc 2, -1, 0, 1"}' -t ptx | filecheck %s --check-prefix=E5M2
// RUN: sed 's/xf16/xf32/g' %s | tg-opt -p 'tg-to-gpu{target="nvidia:sm_80" mode="explicit:tc 2, 2, 1, 1"}' -t ptx | filecheck %s --check-prefix=TF32

// WMMA by mma.sync. Two neighbours along k are loaded as one register where they are neighbours in
// memory, as in the rows of A and of B's transpose. tf32 is rounded, because mma.sync truncates.

// CHECK:      .entry main_0(
// CHECK:      ld.global.b32
// CHECK:      mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {[[C:%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+]]}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, {%r{{[0-9]+}}, %r{{[0-9]+}}}, {[[C]]};

// LLVM:       llvm.inline_asm has_side_effects asm_dialect = att "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"

// BF16:       mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32

// E4M3:       .version 8.4
// E4M3:       mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32

// E5M2:       mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32

// TF32-COUNT-6: cvt.rna.tf32.f32
// TF32:       mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32

func.func @main(%a: tensor<32x64xf16>, %b: tensor<16x64xf16>) -> tensor<32x16xf32> {
  %0 = tg.reshape %a [32, 1, 64] : tensor<32x64xf16> -> tensor<32x1x64xf16>
  %1 = tg.reshape %b [1, 16, 64] : tensor<16x64xf16> -> tensor<1x16x64xf16>
  %2 = tg.expand %0 [32, 16, 64] : tensor<32x1x64xf16> -> tensor<32x16x64xf16>
  %3 = tg.expand %1 [32, 16, 64] : tensor<1x16x64xf16> -> tensor<32x16x64xf16>
  %4 = tg.cast %2 to f32 : tensor<32x16x64xf16> -> tensor<32x16x64xf32>
  %5 = tg.cast %3 to f32 : tensor<32x16x64xf16> -> tensor<32x16x64xf32>
  %6 = tg.mul %4, %5 : tensor<32x16x64xf32>
  %7 = tg.reduce add %6 [2] : tensor<32x16x64xf32> -> tensor<32x16x1xf32>
  %8 = tg.reshape %7 [32, 16] : tensor<32x16x1xf32> -> tensor<32x16xf32>
  return %8 : tensor<32x16xf32>
}

// RUN: tg-opt %s -p 'tg-to-gpu{target="amd:gfx942" mode="explicit:tc 2, 0, 0, 1"}' -t amdgcn | filecheck %s --check-prefix=MFMA
// RUN: sed 's/xf16/xbf16/g' %s | tg-opt -p 'tg-to-gpu{target="amd:gfx90a" mode="explicit:tc 2, 3, 0, 1"}' -t amdgcn | filecheck %s --check-prefix=BF16
// RUN: tg-opt %s -p 'tg-to-gpu{target="amd:gfx1100" mode="explicit:tc 2, 0, 0, 1"}' -t amdgcn | filecheck %s --check-prefix=WMMA
// RUN: sed 's/xf16/xbf16/g' %s | tg-opt -p 'tg-to-gpu{target="amd:gfx1100" mode="explicit:tc 2, 1, 0, 1"}' -t amdgcn | filecheck %s --check-prefix=WBF16
// RUN: tg-opt %s -p 'tg-to-gpu{target="amd:gfx942" mode="explicit:tc 2, 0, 0, 1"}' | filecheck %s --check-prefix=LLVM

// WMMA by the matrix instructions of CDNA and RDNA.

// MFMA:       v_mfma_f32_16x16x16_f16 v{{.*}}
// BF16:       v_mfma_f32_32x32x8bf16_1k
// WMMA:       v_wmma_f32_16x16x16_f16
// WBF16:      v_wmma_f32_16x16x16_bf16

// LLVM:       llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x16f16"

func.func @main(%a: tensor<32x64xf16>, %b: tensor<32x64xf16>) -> tensor<32x32xf32> {
  %0 = tg.reshape %a [32, 1, 64] : tensor<32x64xf16> -> tensor<32x1x64xf16>
  %1 = tg.reshape %b [1, 32, 64] : tensor<32x64xf16> -> tensor<1x32x64xf16>
  %2 = tg.expand %0 [32, 32, 64] : tensor<32x1x64xf16> -> tensor<32x32x64xf16>
  %3 = tg.expand %1 [32, 32, 64] : tensor<1x32x64xf16> -> tensor<32x32x64xf16>
  %4 = tg.cast %2 to f32 : tensor<32x32x64xf16> -> tensor<32x32x64xf32>
  %5 = tg.cast %3 to f32 : tensor<32x32x64xf16> -> tensor<32x32x64xf32>
  %6 = tg.mul %4, %5 : tensor<32x32x64xf32>
  %7 = tg.reduce add %6 [2] : tensor<32x32x64xf32> -> tensor<32x32x1xf32>
  %8 = tg.reshape %7 [32, 32] : tensor<32x32x1xf32> -> tensor<32x32xf32>
  return %8 : tensor<32x32xf32>
}

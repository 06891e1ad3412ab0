// RUN: tg-opt %s -p 'tg-to-source{target="nvidia:sm_80" mode="explicit:tc 2, -1, 0, 1"}' -t cuda | filecheck %s
// RUN: sed 's/xf16/xf32/g' %s | tg-opt -p 'tg-to-source{target="nvidia:sm_80" mode="explicit:tc 2, 2, 1, 1"}' -t cuda | filecheck %s --check-prefix=TF32
// RUN: sed 's/xf16/xf32/g' %s | not tg-opt -p 'tg-callify,tg-rangeify,tg-optimize{target="nvidia:sm_80" mode="explicit:tc 2, 2, 1, 1"},tg-expand,tg-select,tg-linearize,tg-plan' -t opencl 2>&1 | filecheck %s --check-prefix=OPENCL
// RUN: not tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{target=opencl mode="explicit:tc 2, -1, 0, 1"}' 2>&1 | filecheck %s --check-prefix=NONE

// WMMA of registers in CUDA C++: inline assembly, with an array of words for each fragment of factors.

// CHECK:         __align__(4) __half w0[8] = {val0.x, val0.y, val1.x, val1.y, val2.x, val2.y, val3.x, val3.y};
// CHECK-NEXT:    __align__(4) __half w1[4] = {val4.x, val4.y, val5.x, val5.y};
// CHECK-NEXT:    float [[SUMS:t[0-9]+]][4];
// CHECK-NEXT:    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" : "=f"([[SUMS]][0]), {{.*}} : "r"(((const unsigned int *)w0)[0]), {{.*}}, "f"(acc[3]));
// CHECK-NEXT:    acc[0] = [[SUMS]][0];

// TF32:        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"([[WORD:t[0-9]+]]) : "f"({{.*}}));
// TF32:        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {{.*}} : "r"([[WORD]]), {{.*}}

// OPENCL:      error: {{.*}}tg.ins is an instruction, and this output has no inline assembly
// NONE:        the target opencl has no matrix instructions

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

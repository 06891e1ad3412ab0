// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx512vl,fma threads=1}' | filecheck %s
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx512vl,fma threads=1}' | tg-opt | filecheck %s
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx512f threads=1}' | filecheck %s --check-prefix=RECIPE

// A processor that scales floats by powers of two rounds the exponent, and scales a polynomial of the rest. Others shift bits.

// CHECK-LABEL: llvm.func @main_0(
// CHECK:         %[[N:.*]] = llvm.intr.roundeven(%[[X:.*]]) : (vector<64xf32>) -> vector<64xf32>
// CHECK-NEXT:    %[[R:.*]] = llvm.fsub %[[X]], %[[N]]
// CHECK-COUNT-6: llvm.intr.fma
// CHECK:         %[[PART:.*]] = llvm.shufflevector %[[N]], %[[N]] [0, 1, 2
// CHECK-NEXT:    llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%{{.*}}, %[[PART]], %{{.*}}, %{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, i16, i32) -> vector<16xf32>

// RECIPE-LABEL: llvm.func @main_0(
// RECIPE-NOT:     scalef
// RECIPE:         llvm.shl

func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = tg.exp2 %x : tensor<1024xf32>
  func.return %0 : tensor<1024xf32>
}

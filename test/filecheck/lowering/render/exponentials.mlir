// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx512vl,fma threads=1}' | filecheck %s
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx512vl,fma threads=1}' | tg-opt | filecheck %s
// RUN: tg-opt %s -p 'tg-to-llvm{mode=heuristic features=avx512f threads=1}' | filecheck %s --check-prefix=RECIPE

// A processor that scales floats by powers of two rounds the exponent, and scales a polynomial of the rest. Others shift bits.

// CHECK-LABEL: llvm.func @main_0(
// CHECK:         %[[N:.*]] = llvm.intr.roundeven(%[[X:.*]]) : (vector<64xf32>) -> vector<64xf32>
// CHECK-NEXT:    %[[R:.*]] = llvm.fsub %[[X]], %[[N]]
// CHECK-COUNT-6: llvm.intr.fma
// CHECK:         %[[PART:.*]] = llvm.shufflevector %[[N]], %[[N]] [0, 1, 2
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%{{.*}}, %[[PART]], %{{.*}}, %{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, i16, i32) -> vector<16xf32>

// RECIPE-LABEL: llvm.func @main_0(
// RECIPE-NOT:     scalef
// RECIPE:         llvm.shl

func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = tg.exp2 %x : tensor<1024xf32>
  func.return %0 : tensor<1024xf32>
}

// GATE looks up 16 powers and what their rounding lost, and estimates a reciprocal. Its tails are behind a branch.

// CHECK-LABEL: llvm.func @sigmoid_0(
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"({{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.rcp14.ps.512"({{.*}}) : (vector<16xf32>, vector<16xf32>, i16) -> vector<16xf32>
// CHECK:         llvm.cond_br
// CHECK:         llvm.intr.fma

// RECIPE-LABEL: llvm.func @sigmoid_0(
// RECIPE-NOT:     call_intrinsic
// RECIPE:         llvm.fdiv

func.func @sigmoid(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %one = tg.const 1.0 : tensor<f32>
  %0 = tg.gate %one, %x : (tensor<f32>, tensor<1024xf32>) -> tensor<1024xf32>
  func.return %0 : tensor<1024xf32>
}

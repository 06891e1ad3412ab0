// RUN: tg-opt %s -p "tg-select,tg-linearize,tg-plan,tg-render" | filecheck %s
// RUN: tg-opt %s -p "tg-select,tg-linearize,tg-plan,tg-render{output=c}" | filecheck %s --check-prefix=SOURCE
// RUN: sed "s/avx512bf16/avx512bw/" %s | not tg-opt -p "tg-select" 2>&1 | filecheck %s --check-prefix=NONE

// Blocks of 8 rows and 32 columns: a word of A has a pair of steps, and is used for two registers of B.
// NONE: the target cpu has no 8x32x2 wmma of 1 threads that multiplies bf16 and adds f32: it needs the feature avx512bf16, which this target lacks

#g = #tg.place<global>
module attributes {tg.target = #tg.target<"cpu", features = ["avx512bf16"]>} {
tg.kernel @k {
  %o = tg.param 0 : tensor<256xf32, #g>
  %pa = tg.param 1 : tensor<16xbf16, #g>
  %pb = tg.param 2 : tensor<64xbf16, #g>
  %a = tg.load %pa : tensor<16xbf16, #g> -> tensor<16xbf16>
  %b = tg.load %pb : tensor<64xbf16, #g> -> tensor<64xbf16>
  %zero = tg.const 0.0 : tensor<f32>
  %one = tg.reshape %zero [1] : tensor<f32> -> tensor<1xf32>
  %c = tg.expand %one [256] : tensor<1xf32> -> tensor<256xf32>
  // CHECK-LABEL: llvm.func @k
  // CHECK: %[[PAIRS:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<32xbf16>
  // CHECK: %[[WORD:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> i32
  // CHECK: %[[FACTOR:.*]] = llvm.bitcast %{{.*}} : vector<16xi32> to vector<32xbf16>
  // CHECK-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
  // CHECK-NOT: dpbf16ps
  // SOURCE: vdpbf16ps %2, %1, %0
  %d = tg.wmma %a, %b, %c config <8x32x2, threads = 1, a = ["k0", "m0", "m1", "m2"], b = ["k0", "n0", "n1", "n2", "n3", "n4"], c = ["n0", "n1", "n2", "n3", "n4", "m0", "m1", "m2"]> : (tensor<16xbf16>, tensor<64xbf16>, tensor<256xf32>) -> tensor<256xf32>
  %s = tg.store %o, %d : tensor<256xf32, #g>, tensor<256xf32>
  %k = tg.sink %s : !tg.void
}
func.func @main(%o: tensor<256xf32, #tg.place<"CPU", global>> {tg.output}, %a: tensor<16xbf16, #tg.place<"CPU", global>>, %b: tensor<64xbf16, #tg.place<"CPU", global>>) {
  %0 = tg.call @k(%o, %a, %b) : (tensor<256xf32, #tg.place<"CPU", global>>, tensor<16xbf16, #tg.place<"CPU", global>>, tensor<64xbf16, #tg.place<"CPU", global>>) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}
}

// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-optimize{mode=heuristic features="avx2","fma" threads=2},tg-verify{level=kernels})' | filecheck %s

// Threads share a kernel that a loop calls with less work than another one: they are awake. Bytes count as before,
// since they are in caches.

// CHECK-LABEL: tg.kernel @once_0
// CHECK-NOT:     thread
// CHECK-LABEL: tg.kernel @loop_function_0_0
// CHECK:         tg.range {{.*}} thread to
// CHECK-LABEL: tg.kernel @moves_function_1_0
// CHECK-NOT:     thread
// CHECK-LABEL: tg.kernel @moves_scan_1
func.func @once(%x: tensor<16x512xf32>) -> tensor<16x512xf32> {
  %e = tg.exp2 %x : tensor<16x512xf32>
  func.return %e : tensor<16x512xf32>
}
func.func @loop(%h: tensor<32x256xf32>) -> tensor<32x256xf32> {
  %r = tg.scan(%h) states 1 sequences 0 steps 100 {
    %s = tg.param 0 : tensor<32x256xf32>
    %e = tg.exp2 %s : tensor<32x256xf32>
    %t = tg.tuple %e : tensor<32x256xf32> -> !tg.tuple<tensor<32x256xf32>>
  } : (tensor<32x256xf32>) -> !tg.tuple<tensor<32x256xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<32x256xf32>> -> tensor<32x256xf32>
  func.return %0 : tensor<32x256xf32>
}
func.func @moves(%h: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %r = tg.scan(%h) states 1 sequences 0 steps 100 {
    %s = tg.param 0 : tensor<64x256xf32>
    %e = tg.neg %s : tensor<64x256xf32>
    %t = tg.tuple %e : tensor<64x256xf32> -> !tg.tuple<tensor<64x256xf32>>
  } : (tensor<64x256xf32>) -> !tg.tuple<tensor<64x256xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<64x256xf32>> -> tensor<64x256xf32>
  func.return %0 : tensor<64x256xf32>
}

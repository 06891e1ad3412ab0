// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=heuristic features=avx512f threads=1},tg-verify{level=kernels})' | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-split{kernel=main_0 axis=1 factor=16 target=global})' | filecheck %s --check-prefix=SPLIT
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-split{kernel=main_0 axis=1 factor=4 target=global})' | filecheck %s --check-prefix=REST

// Indices divide a range whose elements come from several axes. A loop for each digit leaves no division: what is next
// to what in memory can be seen.

// Heads side by side: vectors lie along one.
// CHECK-LABEL: tg.kernel @main_0
// CHECK-NOT:   {{tg.idiv|tg.mod}}
// CHECK:       opts [#tg.opt<split 1, 16, global>, #tg.opt<split 2, 16, upcast>, #tg.opt<order 1, 0>]

// The windows of a pool, of 2 by 3: a loop for each side, written out, and vectors of windows.
// CHECK-LABEL: tg.kernel @main_1
// CHECK-NOT:   {{tg.idiv|tg.mod}}
// CHECK:       opts [#tg.opt<split 2, 3, reduce>, #tg.opt<split 2, 2, unroll>, #tg.opt<split 3, 3, unroll>, #tg.opt<split 1, 32, upcast>]

// A number of three digits.
// CHECK-LABEL: tg.kernel @main_2
// CHECK-NOT:   {{tg.idiv|tg.mod}}
// CHECK:       opts [#tg.opt<split 0, 32, global>, #tg.opt<split 0, 8, global>, #tg.opt<split 1, 32, upcast>]

// An explicit SPLIT simplifies what it can.
// SPLIT-LABEL: tg.kernel @main_0
// SPLIT:       %[[HEAD:.*]] = tg.range 1 global to
// SPLIT:       %[[AT:.*]] = tg.range 2 global to
// SPLIT-NOT:   {{tg.idiv|tg.mod}}
// SPLIT:       tg.index %{{.*}}[%[[HEAD]], %{{.*}}, %[[AT]]]

// REST-LABEL:  tg.kernel @main_0
// REST:        %[[OUTER:.*]] = tg.range 1 global to
// REST:        tg.range 2 global to
// REST:        tg.idiv %[[OUTER]], %{{.*}}

module attributes {tg.target = #tg.target<"cpu", features = []>} {
func.func @main(%x: tensor<8x128x16xf32>, %y: tensor<64x96xf32>, %z: tensor<8x4x32xf32>) -> (tensor<128x128xf32>, tensor<32x32xf32>, tensor<1024xf32>) {
  %0 = tg.permute %x [1, 0, 2] : tensor<8x128x16xf32> -> tensor<128x8x16xf32>
  %1 = tg.reshape %0 [128, 128] : tensor<128x8x16xf32> -> tensor<128x128xf32>
  %2 = tg.neg %1 : tensor<128x128xf32>
  %3 = tg.reshape %y [32, 2, 32, 3] : tensor<64x96xf32> -> tensor<32x2x32x3xf32>
  %4 = tg.permute %3 [0, 2, 1, 3] : tensor<32x2x32x3xf32> -> tensor<32x32x2x3xf32>
  %5 = tg.reshape %4 [32, 32, 6] : tensor<32x32x2x3xf32> -> tensor<32x32x6xf32>
  %6 = tg.reduce max %5 [2] : tensor<32x32x6xf32> -> tensor<32x32x1xf32>
  %7 = tg.reshape %6 [32, 32] : tensor<32x32x1xf32> -> tensor<32x32xf32>
  %8 = tg.permute %z [1, 0, 2] : tensor<8x4x32xf32> -> tensor<4x8x32xf32>
  %9 = tg.reshape %8 [1024] : tensor<4x8x32xf32> -> tensor<1024xf32>
  %10 = tg.neg %9 : tensor<1024xf32>
  func.return %2, %7, %10 : tensor<128x128xf32>, tensor<32x32xf32>, tensor<1024xf32>
}
}

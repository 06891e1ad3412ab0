// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=heuristic features=avx512f threads=1},tg-simplify,tg-expand,tg-select{features=avx512f},tg-verify{level=target})' | filecheck %s

// Elements two apart are one LOAD of a vector, and those that padding may leave out are, too.

// CHECK-LABEL: tg.kernel @main_0
// CHECK:       %[[TWO:.*]] = tg.vconst [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30] : tensor<16xindex>
// CHECK:       tg.load %{{.*}} : tensor<16xf32, #tg.place<global>> -> tensor<16xf32>
// CHECK-NOT:   tg.load

// CHECK-LABEL: tg.kernel @main_1
// CHECK:       tg.load %{{.*}} alt %{{.*}} gate %{{.*}} : tensor<16xf32, #tg.place<global>>, tensor<16xf32>, tensor<16xi1> -> tensor<16xf32>
// CHECK-NOT:   tg.load

module attributes {tg.target = #tg.target<"cpu", features = []>} {
func.func @main(%x: tensor<32xf32>, %y: tensor<30xf32>) -> (tensor<16x1xf32>, tensor<16x1xf32>) {
  %0 = tg.reshape %x [16, 2] : tensor<32xf32> -> tensor<16x2xf32>
  %1 = tg.shrink %0 at [0, 0] to [16, 1] : tensor<16x2xf32> -> tensor<16x1xf32>
  %2 = tg.neg %1 : tensor<16x1xf32>
  %3 = tg.pad %y at [1] to [32] : tensor<30xf32> -> tensor<32xf32>
  %4 = tg.reshape %3 [16, 2] : tensor<32xf32> -> tensor<16x2xf32>
  %5 = tg.shrink %4 at [0, 0] to [16, 1] : tensor<16x2xf32> -> tensor<16x1xf32>
  %6 = tg.neg %5 : tensor<16x1xf32>
  func.return %2, %6 : tensor<16x1xf32>, tensor<16x1xf32>
}
}

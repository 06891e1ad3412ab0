// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=heuristic features=avx512f threads=1},tg-verify{level=kernels})' | filecheck %s

// What is loaded along one range and stored along another is done in squares, which overlap at the edges.
// CHECK-LABEL: tg.kernel @main_0
// CHECK:       opts [#tg.opt<split 1, 16, upcast, overlap>, #tg.opt<split 0, 16, upcast, overlap>, #tg.opt<order 2, 3>]

// Vectors along what is loaded together are stored as columns of a tile, if only few are side by side.
// CHECK-LABEL: tg.kernel @main_1
// CHECK:       opts [#tg.opt<split 1, 3, upcast>, #tg.opt<split 0, 16, upcast>, #tg.opt<order 1, 2>]

// Short rows that are reduced: vectors lie across them, of elements four apart.
// CHECK-LABEL: tg.kernel @main_2
// CHECK:       opts [#tg.opt<split 1, 4, unroll>, #tg.opt<split 0, 64, upcast>]

module attributes {tg.target = #tg.target<"cpu", features = []>} {
func.func @main(%x: tensor<53x37xf32>, %y: tensor<3x256xf32>, %z: tensor<512x4xf32>) -> (tensor<37x53xf32>, tensor<256x3xf32>, tensor<512x1xf32>) {
  %0 = tg.permute %x [1, 0] : tensor<53x37xf32> -> tensor<37x53xf32>
  %1 = tg.neg %0 : tensor<37x53xf32>
  %2 = tg.permute %y [1, 0] : tensor<3x256xf32> -> tensor<256x3xf32>
  %3 = tg.neg %2 : tensor<256x3xf32>
  %4 = tg.reduce add %z [1] : tensor<512x4xf32> -> tensor<512x1xf32>
  func.return %1, %3, %4 : tensor<37x53xf32>, tensor<256x3xf32>, tensor<512x1xf32>
}
}

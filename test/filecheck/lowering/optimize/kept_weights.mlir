// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=SMALL
// RUN: sed 's/l2 = 524288/l2 = 16777216/' %s | tg-opt -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=LARGE

// 4 MiB of weights come from the last cache for each tile of rows, if rows are outermost and results are stored in order,
// unless L2 holds them.

module attributes {tg.target = #tg.target<"cpu", features = ["avx2", "fma"], l2 = 524288, threads = 1>} {
// SMALL-LABEL: tg.kernel @main_0 {
// SMALL:         #tg.opt<order 1, 0>, #tg.opt<stage 2, 1, global>]
// LARGE-LABEL: tg.kernel @main_0 {
// LARGE:         opts [#tg.opt<split 0, 6, upcast, overlap>, #tg.opt<split 1, 16, upcast>, #tg.opt<stage 2, 1, global>]
func.func @main(%x: tensor<784x1024xf32>, %w: tensor<1024x1024xf32> {tg.constant}) -> tensor<784x1024x1xf32> {
  %0 = tg.reshape %x [784, 1, 1024] : tensor<784x1024xf32> -> tensor<784x1x1024xf32>
  %1 = tg.mul %0, %w : (tensor<784x1x1024xf32>, tensor<1024x1024xf32>) -> tensor<784x1024x1024xf32>
  %2 = tg.reduce add %1 [2] : tensor<784x1024x1024xf32> -> tensor<784x1024x1xf32>
  func.return %2 : tensor<784x1024x1xf32>
}
}

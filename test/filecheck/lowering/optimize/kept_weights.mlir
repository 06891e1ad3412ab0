// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=avx2,fma threads=1}' | filecheck %s --check-prefix=ROWS
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=sapphirerapids threads=1}' | filecheck %s --check-prefix=COLUMNS

// 4 MiB of weights, which L2 does not hold, come from the last cache for each tile of rows, if rows are outermost and
// results are stored in order. A core that multiplies 16 numbers at a time would wait for that, one of 8 does not.

// ROWS-LABEL:    tg.kernel @main_0
// ROWS:            opts [#tg.opt<split 0, 6, upcast, overlap>, #tg.opt<split 1, 16, upcast>, #tg.opt<stage 2, 1, global>]
// COLUMNS-LABEL: tg.kernel @main_0
// COLUMNS:         #tg.opt<order 1, 0>, #tg.opt<stage 2, 1, global>]
func.func @main(%x: tensor<784x1024xf32>, %w: tensor<1024x1024xf32> {tg.constant}) -> tensor<784x1024x1xf32> {
  %0 = tg.reshape %x [784, 1, 1024] : tensor<784x1024xf32> -> tensor<784x1x1024xf32>
  %1 = tg.mul %0, %w : (tensor<784x1x1024xf32>, tensor<1024x1024xf32>) -> tensor<784x1024x1024xf32>
  %2 = tg.reduce add %1 [2] : tensor<784x1024x1024xf32> -> tensor<784x1024x1xf32>
  func.return %2 : tensor<784x1024x1xf32>
}

// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic features=znver2 threads=1}' | filecheck %s

// Tiles do not divide rows and columns, so that the last ones overlap those before. Their strides are known all the same:
// tiles of columns come first, for each of which the columns of the second factor stay in the cache.

// CHECK-LABEL: tg.kernel @main_0
// CHECK:         opts [#tg.opt<split 0, 6, upcast, overlap>, #tg.opt<split 1, 16, upcast, overlap>, #tg.opt<order 1, 0>
func.func @main(%x: tensor<777x555xf32>, %w: tensor<555x333xf32>) -> tensor<777x1x333xf32> {
  %0 = tg.reshape %x [777, 555, 1] : tensor<777x555xf32> -> tensor<777x555x1xf32>
  %1 = tg.mul %0, %w : (tensor<777x555x1xf32>, tensor<555x333xf32>) -> tensor<777x555x333xf32>
  %2 = tg.reduce add %1 [1] : tensor<777x555x333xf32> -> tensor<777x1x333xf32>
  func.return %2 : tensor<777x1x333xf32>
}

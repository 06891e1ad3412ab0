// RUN: not tg-opt %s -p tg-error-bound 2>&1 | filecheck %s

// CHECK: errors.mlir:5:8: error: pass tg-error-bound: the error of tg.scan has no bound
func.func @steps(%h: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.scan(%h) states 1 sequences 0 steps 2 {
    %s = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  %1 = tg.gettuple %0 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

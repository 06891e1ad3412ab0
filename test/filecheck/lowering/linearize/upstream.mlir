// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=none},tg-expand,tg-select,tg-linearize' > %t
// RUN: tg-opt %t -p cse > %t.cse && diff %t %t.cse
// RUN: tg-opt %t -p dce > %t.dce && diff %t %t.dce
// RUN: tg-opt %t -p canonicalize > %t.canonicalize && diff %t %t.canonicalize
// RUN: tg-opt %t -p tg-simplify > %t.simplify && diff %t %t.simplify
// RUN: tg-opt %t -p 'cse,canonicalize,tg-plan,cse,canonicalize,tg-render' -t llvm | filecheck %s

// In a LINEAR each op has its place: an END without uses closes a loop, and a value of one loop is
// gone in the next.

// CHECK: define void @main_0(
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %max = tg.reduce max %x [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %0 = tg.sub %x, %max : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %1 = tg.exp2 %0 : tensor<2x4xf32>
  %sum = tg.reduce add %1 [1] : tensor<2x4xf32> -> tensor<2x1xf32>
  %2 = tg.div %1, %sum : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  func.return %2 : tensor<2x4xf32>
}

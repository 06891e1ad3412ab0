// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=explicit opts="split 1, 3, upcast","split 0, 8, upcast","order 2, 3"},tg-expand,tg-select{features=sse2},tg-simplify,tg-linearize,tg-verify{level=linear})' | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=explicit opts="split 1, 3, upcast","split 0, 8, upcast","order 2, 3"},tg-expand,tg-select{features=sse2},tg-simplify,tg-linearize,tg-plan,tg-render)' | filecheck %s --check-prefix=LLVM

// Three rows of a tile whose columns lie together in memory: two elements of each column are accessed at once, of the first two
// rows and of the last two. Vectors are of up to four registers, and a row of eight is one.

// CHECK-COUNT-16: %{{.*}} = tg.load %{{.*}} : tensor<2xf32, #tg.place<global>> -> tensor<2xf32>
// CHECK-NOT:      tg.load
// CHECK:          %[[PARTS:.*]] = tg.stack %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
// CHECK:          %[[ROW:.*]] = tg.reshape %[[PARTS]] [8] : tensor<4x2xf32> -> tensor<8xf32>
// CHECK:          tg.neg %[[ROW]] : tensor<8xf32>
// CHECK:          %[[FIRST:.*]] = tg.stack %[[A:.*]], %[[B:.*]] : (tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
// CHECK:          tg.permute %[[FIRST]] [1, 0] : tensor<2x8xf32> -> tensor<8x2xf32>
// CHECK-COUNT-8:  tg.store %{{.*}}, %{{.*}} : tensor<2xf32, #tg.place<global>>, tensor<2xf32>
// CHECK:          %[[LAST:.*]] = tg.stack %[[B]], %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
// CHECK:          tg.permute %[[LAST]] [1, 0] : tensor<2x8xf32> -> tensor<8x2xf32>
// CHECK-COUNT-8:  tg.store %{{.*}}, %{{.*}} : tensor<2xf32, #tg.place<global>>, tensor<2xf32>
// CHECK-NOT:      tg.store

// Squares are joined to rows; two rows are interleaved, and what comes of it is cut into columns.
// LLVM:           llvm.shufflevector %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>
// LLVM:           llvm.shufflevector %{{.*}}, %{{.*}} [0, 8, 1, 9, 4, 12, 5, 13] : vector<8xf32>
// LLVM:           llvm.shufflevector %{{.*}}, %{{.*}} [2, 10, 3, 11, 6, 14, 7, 15] : vector<8xf32>
// LLVM:           llvm.shufflevector %{{.*}}, %{{.*}} [0, 1] : vector<8xf32>

func.func @main(%x: tensor<16x9xf32>) -> tensor<16x9xf32> {
  %0 = tg.neg %x : tensor<16x9xf32>
  func.return %0 : tensor<16x9xf32>
}

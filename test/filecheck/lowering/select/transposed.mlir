// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=explicit opts="split 0, 4, upcast","split 1, 8, upcast"},tg-expand,tg-select{features=sse2},tg-simplify,tg-linearize,tg-verify{level=linear})' | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=explicit opts="split 0, 4, upcast","split 1, 8, upcast"},tg-expand,tg-select{features=sse2},tg-simplify,tg-linearize,tg-plan,tg-render)' | filecheck %s --check-prefix=LLVM

// A tile whose columns lie together in memory is loaded by columns, and each square of registers is transposed.

// CHECK-COUNT-4: %{{.*}} = tg.load %{{.*}} : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>
// CHECK-NOT:     tg.load
// CHECK:         %[[SQUARE:.*]] = tg.stack %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
// CHECK:         %[[ROWS:.*]] = tg.permute %[[SQUARE]] [1, 0] : tensor<4x4xf32>
// CHECK:         tg.index %[[ROWS]][%{{.*}}] : (tensor<4x4xf32>, tensor<index>) -> tensor<4xf32>

// Of two vectors four apart lanes are interleaved, and then again.
// LLVM:          llvm.shufflevector %{{.*}}, %{{.*}} [0, 4, 1, 5] : vector<4xf32>
// LLVM:          llvm.shufflevector %{{.*}}, %{{.*}} [2, 6, 3, 7] : vector<4xf32>
// LLVM-COUNT-6:  llvm.shufflevector

func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = tg.permute %x [1, 0] : tensor<8x8xf32>
  %1 = tg.neg %0 : tensor<8x8xf32>
  func.return %1 : tensor<8x8xf32>
}

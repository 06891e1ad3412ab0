// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=explicit opts="split 0, 8, upcast","split 1, 8, upcast"},tg-expand,tg-select{features=avx2},tg-simplify,tg-linearize,tg-verify{level=linear})' | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=explicit opts="split 0, 8, upcast","split 1, 8, upcast"},tg-expand,tg-select{features=avx2},tg-simplify,tg-linearize,tg-plan,tg-render)' | filecheck %s --check-prefix=LLVM

// Columns as long as a register are loaded in halves. Two halves are joined to a register as they are loaded, which is an insertion from memory and no shuffle.

// CHECK-COUNT-8: %{{.*}} = tg.load %{{.*}} : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>
// CHECK:         %[[HALF:.*]] = tg.stack {{.*}} -> tensor<8x4xf32>
// CHECK:         tg.permute %[[HALF]] [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
// CHECK-COUNT-8: %{{.*}} = tg.load %{{.*}} : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>

// LLVM-COUNT-4:  llvm.shufflevector %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>
// LLVM-COUNT-8:  llvm.shufflevector %{{.*}}, %{{.*}} [{{.*}}] : vector<8xf32>
// LLVM-NOT:      vector<8xf32>
// LLVM:          llvm.shufflevector %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>

func.func @main(%x: tensor<16x8xf32>) -> tensor<8x16xf32> {
  %0 = tg.permute %x [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  %1 = tg.neg %0 : tensor<8x16xf32>
  func.return %1 : tensor<8x16xf32>
}

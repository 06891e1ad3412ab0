// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-simplify,tg-optimize{mode=explicit opts="split 0, 4, upcast","padto 1, 4, clamp","split 1, 4, upcast"},tg-expand,tg-select{features=sse2},tg-simplify,tg-linearize,tg-verify{level=linear})' | filecheck %s

// A tile whose columns lie together is loaded by columns also where its rows are no step apart: PADTO has clamped the last one.

// CHECK-COUNT-4: %{{.*}} = tg.load %{{.*}} : tensor<4xf32, #tg.place<global>> -> tensor<4xf32>
// CHECK-NOT:     tg.load
// CHECK:         %[[SQUARE:.*]] = tg.stack %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
// CHECK:         tg.permute %[[SQUARE]] [1, 0] : tensor<4x4xf32>

func.func @main(%x: tensor<7x8xf32>) -> tensor<8x7xf32> {
  %0 = tg.permute %x [1, 0] : tensor<7x8xf32> -> tensor<8x7xf32>
  %1 = tg.neg %0 : tensor<8x7xf32>
  func.return %1 : tensor<8x7xf32>
}

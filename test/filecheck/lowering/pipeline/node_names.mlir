// RUN: tg-opt %s -p tg-callify,tg-rangeify --mlir-print-debuginfo | filecheck %s
// RUN: tg-opt %s -p tg-callify,tg-rangeify,tg-optimize,tg-expand,tg-select,tg-linearize --mlir-print-debuginfo | filecheck %s --check-prefix LINEAR
// RUN: tg-opt %s -p tg-to-llvm --mlir-print-debuginfo | filecheck %s --check-prefix LLVM

// A kernel has the names of the nodes that it computes, the one of its result first, and its ops
// those that they are for.

// CHECK: tg.add {{.*}} loc("/add/Add")
// CHECK: tg.sin {{.*}} loc("/sin/Sin")
// CHECK: tg.reduce {{.*}} loc("/sum/Sum")
// CHECK: } loc(fused["/sum/Sum", "/sum/Squeeze", "/add/Add", "/sin/Sin"])
// CHECK: tg.call @main_0{{.*}} loc("/sum/Squeeze")

// LINEAR: tg.program @main_0
// LINEAR: } loc(fused["/sum/Sum", "/sum/Squeeze", "/add/Add", "/sin/Sin"])
// LINEAR: tg.call @main_0{{.*}} loc("/sum/Squeeze")

// LLVM: llvm.load {{.*}} loc("/add/Add")
// LLVM: llvm.fadd {{.*}} loc("/add/Add")

func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8xf32> {
  %0 = tg.add %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("/add/Add")
  %1 = tg.sin %0 : tensor<8x8xf32> loc("/sin/Sin")
  %2 = tg.reduce add %1 [1] : tensor<8x8xf32> -> tensor<8x1xf32> loc("/sum/Sum")
  %3 = tg.reshape %2 [8] : tensor<8x1xf32> -> tensor<8xf32> loc("/sum/Squeeze")
  return %3 : tensor<8xf32>
}

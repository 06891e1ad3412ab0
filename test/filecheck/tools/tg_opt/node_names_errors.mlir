// RUN: not tg-opt %s --split-input-file 2>&1 | filecheck %s

// An error of an op that names its node says so, with the position of the node if it has one.

func.func @main(%x: tensor<4xf32>) {
  // CHECK: node_names_errors.mlir: "/encoder/Conv_3": error: the result type is written as
  %0 = tg.sin %x : tensor<4xf32> -> tensor<5xf32> loc("/encoder/Conv_3")
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // CHECK: model.py:3: "Erf" at "Gelu_1": error: the result type is written as
  %0 = tg.sin %x : tensor<4xf32> -> tensor<5xf32> loc(callsite("Erf" at "Gelu_1"("model.py":3:0)))
  return
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // CHECK: node_names_errors.mlir: "a\"b\0A", "1", "2", "3" and 2 more: error: the result type is written as
  %0 = tg.sin %x : tensor<4xf32> -> tensor<5xf32>
    loc(fused["a\22b\n", "1", "2", "3", "1", "4", "5"])
  return
}

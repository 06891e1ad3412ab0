// RUN: tg-opt %s --mlir-print-debuginfo | tg-opt --mlir-print-debuginfo | filecheck %s

// Names of an imported program's nodes are any text.

// CHECK: func.func @main(%x: tensor<4xf32> {tg.name = "a \22b\22\\\0A"} loc("x"))
func.func @main(%x: tensor<4xf32> {tg.name = "a \22b\22\\\0A"} loc("x"))
    -> (tensor<4xf32> {tg.name = "/logits"}) {
  // CHECK-NEXT: tg.sin %x : tensor<4xf32> loc("/encoder/Conv_3")
  %0 = tg.sin %x : tensor<4xf32> loc("/encoder/Conv_3")
  // CHECK-NEXT: loc("\22quoted\22 \\ \0A \E6\97\A5")
  %1 = tg.sin %0 : tensor<4xf32> loc("\"quoted\" \\ \n \E6\97\A5")
  // CHECK-NEXT: loc(callsite("Erf" at "Gelu_1"("model.py":3:0)))
  %2 = tg.sin %1 : tensor<4xf32> loc(callsite("Erf" at "Gelu_1"("model.py":3:0)))
  // CHECK-NEXT: loc(fused["conv1", "bn1"])
  %3 = tg.sin %2 : tensor<4xf32> loc(fused["conv1", "bn1"])
  return %3 : tensor<4xf32>
}

// RUN: tg-opt %s -p tg-callify | filecheck %s
// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify{device="CUDA:1"})' | filecheck %s --check-prefix=GIVEN

// All memory is on the device that the program names, or on the one that an option says.

// CHECK:      func.func @main(%x: tensor<4xf32, #tg.place<"NPU", global>>, %out0: tensor<4xf32, #tg.place<"NPU", global>> {tg.output})
// CHECK-NEXT:   tg.load %x : tensor<4xf32, #tg.place<"NPU", global>> -> tensor<4xf32, #tg.place<"NPU">>
// CHECK-NEXT:   tg.exp2 %x : tensor<4xf32, #tg.place<"NPU", global>> -> tensor<4xf32, #tg.place<"NPU">>
// GIVEN:      func.func @main(%x: tensor<4xf32, #tg.place<"CUDA:1", global>>, %out0: tensor<4xf32, #tg.place<"CUDA:1", global>> {tg.output})
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32, #tg.place<"NPU">> {
  %0 = tg.copy %x to "NPU" : tensor<4xf32> -> tensor<4xf32, #tg.place<"NPU">>
  %1 = tg.detach %x : tensor<4xf32>
  %2 = tg.exp2 %1 : tensor<4xf32>
  %3 = tg.add %0, %2 : (tensor<4xf32, #tg.place<"NPU">>, tensor<4xf32>) -> tensor<4xf32, #tg.place<"NPU">>
  func.return %3 : tensor<4xf32, #tg.place<"NPU">>
}

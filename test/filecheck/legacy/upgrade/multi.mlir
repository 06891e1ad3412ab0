// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --input 5,6,7,8 --target interpreter | filecheck %s --check-prefix=RESULT
// RESULT: dense<{{\[\[}}1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>
// RESULT-NEXT: dense<{{\[\[}}1, 2, 0, 0], [3, 4, 0, 0]]> : tensor<2x4xi32>
// RESULT-NEXT: dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>

// MULTI: the shards come together on the first device, and are distributed as one tensor.

func.func @main(%a: tensor<2x2xi32, #tg.place<"A">>, %b: tensor<2x2xi32, #tg.place<"B">>) -> (tensor<4x2xi32, #tg.place<"CPU">>, tensor<2x4xi32, #tg.place<"CPU">>, tensor<2x2xi32, #tg.place<"CPU">>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %0 = tg.copy %b to "A" : tensor<2x2xi32, #tg.place<"B">> -> tensor<2x2xi32, #tg.place<"A">>
  // CHECK-NEXT: %1 = tg.stack %a, %0
  // CHECK-NEXT: %2 = tg.copy %1 to ["A", "B"]
  // CHECK-NEXT: %rows = tg.reshape %2 [4, 2]
  // CHECK-NEXT: %r = tg.copy %rows to "CPU"
  %rows = tg_legacy.multi %a, %b axis 0 real [true, true] : (tensor<2x2xi32, #tg.place<"A">>, tensor<2x2xi32, #tg.place<"B">>) -> tensor<4x2xi32, #tg.place<["A", "B"], axis = 0>>
  %r = tg.copy %rows to "CPU" : tensor<4x2xi32, #tg.place<["A", "B"], axis = 0>> -> tensor<4x2xi32, #tg.place<"CPU">>
  // A shard without data is zeros.
  // CHECK: %5 = tg.expand %4 [2, 2] : tensor<1x1xi32> -> tensor<2x2xi32>
  // CHECK-NEXT: %6 = tg.copy %5 to "A" : tensor<2x2xi32> -> tensor<2x2xi32, #tg.place<"A">>
  // CHECK-NEXT: %7 = tg.stack %a, %6
  // CHECK-NEXT: %8 = tg.copy %7 to ["A", "B"]
  // CHECK-NEXT: %9 = tg.permute %8 [1, 0, 2]
  // CHECK-NEXT: %columns = tg.reshape %9 [2, 4]
  %columns = tg_legacy.multi %a, %b axis 1 real [true, false] : (tensor<2x2xi32, #tg.place<"A">>, tensor<2x2xi32, #tg.place<"B">>) -> tensor<2x4xi32, #tg.place<["A", "B"], axis = 1>>
  %c = tg.copy %columns to "CPU" : tensor<2x4xi32, #tg.place<["A", "B"], axis = 1>> -> tensor<2x4xi32, #tg.place<"CPU">>
  // Without an axis each device has the whole.
  // CHECK: %12 = tg.expand %11 [2, 2, 2]
  // CHECK-NEXT: %13 = tg.copy %12 to ["A", "B"]
  // CHECK-NEXT: %copies = tg.replicated %13 axis 0
  %copies = tg_legacy.multi %a, %b real [true, true] : (tensor<2x2xi32, #tg.place<"A">>, tensor<2x2xi32, #tg.place<"B">>) -> tensor<2x2xi32, #tg.place<["A", "B"]>>
  %d = tg.copy %copies to "CPU" : tensor<2x2xi32, #tg.place<["A", "B"]>> -> tensor<2x2xi32, #tg.place<"CPU">>
  func.return %r, %c, %d : tensor<4x2xi32, #tg.place<"CPU">>, tensor<2x4xi32, #tg.place<"CPU">>, tensor<2x2xi32, #tg.place<"CPU">>
}

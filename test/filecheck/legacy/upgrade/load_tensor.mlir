// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4,5,6 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4,5,6 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
// RESULT-NEXT: dense<[-1, -1, 3, 4, -1, -1]> : tensor<6xi32>

// LOAD through a VIEW, in a program on tensors: a LOAD of a movement of the buffer, after the STOREs that it names.

func.func @main(%x: tensor<6xi32>) -> (tensor<3x2xi32, #tg.place<"CPU">>, tensor<6xi32, #tg.place<"CPU">>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %m = tg.buffer 0 : tensor<6xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %s = tg.store %m, %x : tensor<6xi32, #tg.place<"CPU", global>>, tensor<6xi32>
  // CHECK-NEXT: %0 = tg.after %m, %s
  // CHECK-NEXT: %1 = tg.reshape %0 [2, 3]
  // CHECK-NEXT: %2 = tg.permute %1 [1, 0]
  // CHECK-NEXT: %y = tg.load %2 : tensor<3x2xi32, #tg.place<"CPU", global>> -> tensor<3x2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %one = tg.const 1 : tensor<i32>
  // CHECK-NEXT: %minus = tg.neg %one : tensor<i32>
  // CHECK-NEXT: %row = tg.reshape %minus [1] : tensor<i32> -> tensor<1xi32>
  // CHECK-NEXT: %alt = tg.expand %row [6] : tensor<1xi32> -> tensor<6xi32>
  // CHECK-NEXT: %two = tg.const 2 : tensor<i32>
  // CHECK-NEXT: %four = tg.const 5 : tensor<i32>
  // CHECK-NEXT: %above = tg.cmplt %two, %x : (tensor<i32>, tensor<6xi32>) -> tensor<6xi1>
  // CHECK-NEXT: %below = tg.cmplt %x, %four : (tensor<6xi32>, tensor<i32>) -> tensor<6xi1>
  // CHECK-NEXT: %g = tg.and %above, %below : tensor<6xi1>
  // CHECK-NEXT: %3 = tg.after %m, %s
  // CHECK-NEXT: %z = tg.load %3 alt %alt gate %g
  // CHECK-NEXT: func.return %y, %z : tensor<3x2xi32, #tg.place<"CPU">>, tensor<6xi32, #tg.place<"CPU">>
  %m = tg_legacy.empty : tensor<6xi32, #tg.place<"CPU", global>>
  %v = tg_legacy.view [#tg_legacy.view<[6]>] : !tg.void
  %s = tg_legacy.store %m at %v value %x : tensor<6xi32, #tg.place<"CPU", global>> at !tg.void value tensor<6xi32>
  %w = tg_legacy.view [#tg_legacy.view<[3, 2], strides = [1, 3]>] : !tg.void
  %y = tg_legacy.load %m at %w after %s : tensor<6xi32, #tg.place<"CPU", global>> at !tg.void after !tg.void -> tensor<3x2xi32, #tg.place<"CPU">>
  // Where the gate is false, the alternative.
  %one = tg.const 1 : tensor<i32>
  %minus = tg.neg %one : tensor<i32>
  %row = tg.reshape %minus [1] : tensor<i32> -> tensor<1xi32>
  %alt = tg.expand %row [6] : tensor<1xi32> -> tensor<6xi32>
  %two = tg.const 2 : tensor<i32>
  %four = tg.const 5 : tensor<i32>
  %above = tg.cmplt %two, %x : (tensor<i32>, tensor<6xi32>) -> tensor<6xi1>
  %below = tg.cmplt %x, %four : (tensor<6xi32>, tensor<i32>) -> tensor<6xi1>
  %g = tg.and %above, %below : tensor<6xi1>
  %z = tg_legacy.load %m at %v alt %alt gate %g after %s : tensor<6xi32, #tg.place<"CPU", global>> at !tg.void alt tensor<6xi32> gate tensor<6xi1> after !tg.void -> tensor<6xi32, #tg.place<"CPU">>
  func.return %y, %z : tensor<3x2xi32, #tg.place<"CPU">>, tensor<6xi32, #tg.place<"CPU">>
}

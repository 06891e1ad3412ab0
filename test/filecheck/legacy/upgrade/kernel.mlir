// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --input 1,1,1,1 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --input 1,1,1,1 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<{{\[\[}}4, 6], [3, 5]]> : tensor<2x2xi32>

// KERNEL with shapes: a call of a function, whose results are stored in what the kernel writes.

func.func @main(%a: tensor<4xi32, #tg.place<"CPU", global>>, %b: tensor<4xi32, #tg.place<"CPU", global>>) -> tensor<2x2xi32, #tg.place<"CPU">> {
  // CHECK-LABEL: func.func private @add(
  // CHECK-NEXT: %3 = tg.reshape %1 [2, 2]
  // CHECK-NEXT: %4 = tg.permute %3 [1, 0] : tensor<2x2xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %x = tg.load %4 : tensor<2x2xi32, #tg.place<"CPU", global>> -> tensor<2x2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %5 = tg.reshape %2 [2, 2]
  // CHECK-NEXT: %6 = tg.permute %5 [1, 0] : tensor<2x2xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %7 = tg.flip %6 [true, false] : tensor<2x2xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %y = tg.load %7 : tensor<2x2xi32, #tg.place<"CPU", global>> -> tensor<2x2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %z = tg.add %x, %y : tensor<2x2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %t = tg.flip %z [true, false] : tensor<2x2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %one = tg.const 1 : tensor<i32>
  // CHECK-NEXT: %u = tg.add %t, %one
  // CHECK-NEXT: func.return %u : tensor<2x2xi32, #tg.place<"CPU">>
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %o = tg.buffer 0 : tensor<2x2xi32, #tg.place<"CPU", global>>
  // CHECK-NEXT: %0 = tg.call @add(%o, %a, %b)
  // CHECK-NEXT: %1 = tg.gettuple %0 0
  // CHECK-NEXT: %2 = tg.store %o, %1 : tensor<2x2xi32, #tg.place<"CPU", global>>, tensor<2x2xi32, #tg.place<"CPU">>
  // CHECK-NEXT: %w = tg.after %o, %2
  %o = tg_legacy.empty : tensor<2x2xi32, #tg.place<"CPU", global>>
  %k = tg_legacy.kernel "add"(%o, %a, %b) {
    %0 = tg_legacy.define_global 0 : tensor<4xi32, #tg.place<"CPU", global>>
    %1 = tg_legacy.define_global 1 : tensor<4xi32, #tg.place<"CPU", global>>
    %2 = tg_legacy.define_global 2 : tensor<4xi32, #tg.place<"CPU", global>>
    // The transposed sum, and its rows in the reverse order.
    %v = tg_legacy.view [#tg_legacy.view<[2, 2], strides = [1, 2]>] : !tg.void
    %w = tg_legacy.view [#tg_legacy.view<[2, 2], strides = [-1, 2], offset = 1>] : !tg.void
    %out = tg_legacy.view [#tg_legacy.view<[2, 2]>] : !tg.void
    %x = tg_legacy.load %1 at %v : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void -> tensor<2x2xi32, #tg.place<"CPU">>
    %y = tg_legacy.load %2 at %w : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void -> tensor<2x2xi32, #tg.place<"CPU">>
    %z = tg.add %x, %y : tensor<2x2xi32, #tg.place<"CPU">>
    %t = tg_legacy.view %z [#tg_legacy.view<[2, 2], strides = [-2, 1], offset = 2>] : tensor<2x2xi32, #tg.place<"CPU">>
    %one = tg.const 1 : tensor<i32>
    %u = tg.add %t, %one : (tensor<2x2xi32, #tg.place<"CPU">>, tensor<i32>) -> tensor<2x2xi32, #tg.place<"CPU">>
    %s = tg_legacy.store %0 at %out value %u : tensor<4xi32, #tg.place<"CPU", global>> at !tg.void value tensor<2x2xi32, #tg.place<"CPU">>
    %r = tg.sink %s : !tg.void
  } : (tensor<2x2xi32, #tg.place<"CPU", global>>, tensor<4xi32, #tg.place<"CPU", global>>, tensor<4xi32, #tg.place<"CPU", global>>) -> !tg.void
  %w = tg_legacy.assign %o, %k : (tensor<2x2xi32, #tg.place<"CPU", global>>, !tg.void) -> tensor<2x2xi32, #tg.place<"CPU", global>>
  %r = tg.load %w : tensor<2x2xi32, #tg.place<"CPU", global>> -> tensor<2x2xi32, #tg.place<"CPU">>
  func.return %r : tensor<2x2xi32, #tg.place<"CPU">>
}

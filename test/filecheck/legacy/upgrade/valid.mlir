// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT
// RUN: tg-run %s --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT
// RESULT: dense<[false, true, true, true, true, false]> : tensor<6xi1>
// RESULT-NEXT: dense<{{\[\[}}-1, 1, 2], [3, 4, -1]]> : tensor<2x3xi32>
// RESULT-NEXT: dense<[true, true]> : tensor<2xi1>

// VALID: true, with false around it where the view is masked.

func.func @main(%x: tensor<4xi32>) -> (tensor<6xi1>, tensor<2x3xi32>, tensor<2xi1>) {
  // CHECK-LABEL: func.func @main(
  // CHECK-NEXT: %0 = tg.const true : tensor<i1>
  // CHECK-NEXT: %1 = tg.reshape %0 [1] : tensor<i1> -> tensor<1xi1>
  // CHECK-NEXT: %2 = tg.expand %1 [4] : tensor<1xi1> -> tensor<4xi1>
  // CHECK-NEXT: %a = tg.pad %2 at [1] to [6] fill false : tensor<4xi1> -> tensor<6xi1>
  // CHECK-NEXT: %3 = tg.pad %x at [1] to [6] fill 0 : i32 : tensor<4xi32> -> tensor<6xi32>
  // CHECK-NEXT: %w = tg.reshape %3 [2, 3] : tensor<6xi32> -> tensor<2x3xi32>
  // CHECK-NEXT: %4 = tg.const true : tensor<i1>
  // CHECK-NEXT: %5 = tg.reshape %4 [1] : tensor<i1> -> tensor<1xi1>
  // CHECK-NEXT: %6 = tg.expand %5 [4] : tensor<1xi1> -> tensor<4xi1>
  // CHECK-NEXT: %7 = tg.pad %6 at [1] to [6] fill false : tensor<4xi1> -> tensor<6xi1>
  // CHECK-NEXT: %g = tg.reshape %7 [2, 3] : tensor<6xi1> -> tensor<2x3xi1>
  // CHECK-NEXT: %one = tg.const -1 : tensor<i32>
  // CHECK-NEXT: %b = tg.where %g, %w, %one : (tensor<2x3xi1>, tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  // CHECK-NEXT: %8 = tg.reshape %x [2, 2] : tensor<4xi32> -> tensor<2x2xi32>
  // CHECK-NEXT: %9 = tg.shrink %8 at [0, 0] to [2, 1] : tensor<2x2xi32> -> tensor<2x1xi32>
  // CHECK-NEXT: %u = tg.reshape %9 [2] : tensor<2x1xi32> -> tensor<2xi32>
  // CHECK-NEXT: %10 = tg.const true : tensor<i1>
  // CHECK-NEXT: %11 = tg.reshape %10 [1] : tensor<i1> -> tensor<1xi1>
  // CHECK-NEXT: %c = tg.expand %11 [2] : tensor<1xi1> -> tensor<2xi1>
  // CHECK-NEXT: func.return %a, %b, %c : tensor<6xi1>, tensor<2x3xi32>, tensor<2xi1>
  %v = tg_legacy.view [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>] : !tg.void
  %a = tg_legacy.valid %v : !tg.void -> tensor<6xi1>
  // Of merged views.
  %w = tg_legacy.view %x [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>, #tg_legacy.view<[2, 3]>] : tensor<4xi32> -> tensor<2x3xi32>
  %g = tg_legacy.valid %w : tensor<2x3xi32> -> tensor<2x3xi1>
  %one = tg.const -1 : tensor<i32>
  %b = tg.where %g, %w, %one : (tensor<2x3xi1>, tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  // Without a mask.
  %u = tg_legacy.view %x [#tg_legacy.view<[2], strides = [2]>] : tensor<4xi32> -> tensor<2xi32>
  %c = tg_legacy.valid %u : tensor<2xi32> -> tensor<2xi1>
  func.return %a, %b, %c : tensor<6xi1>, tensor<2x3xi32>, tensor<2xi1>
}

// RUN: tg-opt %s -p tg-upgrade-legacy | filecheck %s
// RUN: tg-run %s --entry permuted --input 0,1,2,3,4,5 --target interpreter | filecheck %s --check-prefix=RESULT1
// RUN: tg-run %s --entry permuted --input 0,1,2,3,4,5 --target cpu | filecheck %s --check-prefix=RESULT1
// RESULT1: dense<{{\[\[}}0, 3], [1, 4], [2, 5]]> : tensor<3x2xi32>
// RUN: tg-run %s --entry strided --input 0,1,2,3,4,5,6,7,8,9,10,11 --target interpreter | filecheck %s --check-prefix=RESULT2
// RUN: tg-run %s --entry strided --input 0,1,2,3,4,5,6,7,8,9,10,11 --target cpu | filecheck %s --check-prefix=RESULT2
// RESULT2: dense<{{\[\[}}1, 3], [5, 7], [9, 11]]> : tensor<3x2xi32>
// RUN: tg-run %s --entry flipped --input 0,1,2,3,4,5 --target interpreter | filecheck %s --check-prefix=RESULT3
// RUN: tg-run %s --entry flipped --input 0,1,2,3,4,5 --target cpu | filecheck %s --check-prefix=RESULT3
// RESULT3: dense<{{\[\[}}5, 4, 3], [2, 1, 0]]> : tensor<2x3xi32>
// RUN: tg-run %s --entry expanded --input 0,1,2 --target interpreter | filecheck %s --check-prefix=RESULT4
// RUN: tg-run %s --entry expanded --input 0,1,2 --target cpu | filecheck %s --check-prefix=RESULT4
// RESULT4: dense<{{\[\[}}0, 0], [1, 1], [2, 2]]> : tensor<3x2xi32>
// RUN: tg-run %s --entry windows --input 0,1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT5
// RUN: tg-run %s --entry windows --input 0,1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT5
// RESULT5: dense<{{\[\[}}0, 1, 2], [1, 2, 3], [2, 3, 4]]> : tensor<3x3xi32>
// RUN: tg-run %s --entry masked --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT6
// RUN: tg-run %s --entry masked --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT6
// RESULT6: dense<{{\[\[}}0, 0, 0, 0], [0, 1, 2, 0], [0, 3, 4, 0]]> : tensor<3x4xi32>
// RUN: tg-run %s --entry merged --input 0,1,2,3,4,5 --target interpreter | filecheck %s --check-prefix=RESULT7
// RUN: tg-run %s --entry merged --input 0,1,2,3,4,5 --target cpu | filecheck %s --check-prefix=RESULT7
// RESULT7: dense<{{\[\[}}1, 3, 0], [5, 2, 4]]> : tensor<2x3xi32>
// RUN: tg-run %s --entry summed --input 1,2,3,4 --target interpreter | filecheck %s --check-prefix=RESULT8
// RUN: tg-run %s --entry summed --input 1,2,3,4 --target cpu | filecheck %s --check-prefix=RESULT8
// RESULT8: dense<10> : tensor<i32>
// RUN: tg-run %s --entry none --input 1,2 --target interpreter | filecheck %s --check-prefix=RESULT9
// RUN: tg-run %s --entry none --input 1,2 --target cpu | filecheck %s --check-prefix=RESULT9
// RESULT9: dense<[0, 0, 0]> : tensor<3xi32>

// VIEW: movements that read the same elements, one by one.

func.func @permuted(%x: tensor<6xi32>) -> tensor<3x2xi32> {
  // CHECK-LABEL: func.func @permuted(
  // CHECK-NEXT: %0 = tg.reshape %x [2, 3] : tensor<6xi32> -> tensor<2x3xi32>
  // CHECK-NEXT: %r = tg.permute %0 [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
  // CHECK-NEXT: func.return %r : tensor<3x2xi32>
  %r = tg_legacy.view %x [#tg_legacy.view<[3, 2], strides = [1, 3]>] : tensor<6xi32> -> tensor<3x2xi32>
  func.return %r : tensor<3x2xi32>
}

func.func @strided(%x: tensor<12xi32>) -> tensor<3x2xi32> {
  // CHECK-LABEL: func.func @strided(
  // CHECK-NEXT: %0 = tg.reshape %x [3, 2, 2] : tensor<12xi32> -> tensor<3x2x2xi32>
  // CHECK-NEXT: %1 = tg.shrink %0 at [0, 0, 1] to [3, 2, 1] : tensor<3x2x2xi32> -> tensor<3x2x1xi32>
  // CHECK-NEXT: %r = tg.reshape %1 [3, 2] : tensor<3x2x1xi32> -> tensor<3x2xi32>
  // CHECK-NEXT: func.return %r : tensor<3x2xi32>
  %r = tg_legacy.view %x [#tg_legacy.view<[3, 2], strides = [4, 2], offset = 1>] : tensor<12xi32> -> tensor<3x2xi32>
  func.return %r : tensor<3x2xi32>
}

func.func @flipped(%x: tensor<6xi32>) -> tensor<2x3xi32> {
  // CHECK-LABEL: func.func @flipped(
  // CHECK-NEXT: %0 = tg.reshape %x [2, 3] : tensor<6xi32> -> tensor<2x3xi32>
  // CHECK-NEXT: %r = tg.flip %0 [true, true] : tensor<2x3xi32>
  // CHECK-NEXT: func.return %r : tensor<2x3xi32>
  %r = tg_legacy.view %x [#tg_legacy.view<[2, 3], strides = [-3, -1], offset = 5>] : tensor<6xi32> -> tensor<2x3xi32>
  func.return %r : tensor<2x3xi32>
}

func.func @expanded(%x: tensor<3xi32>) -> tensor<3x2xi32> {
  // CHECK-LABEL: func.func @expanded(
  // CHECK-NEXT: %0 = tg.reshape %x [3, 1] : tensor<3xi32> -> tensor<3x1xi32>
  // CHECK-NEXT: %r = tg.expand %0 [3, 2] : tensor<3x1xi32> -> tensor<3x2xi32>
  // CHECK-NEXT: func.return %r : tensor<3x2xi32>
  %r = tg_legacy.view %x [#tg_legacy.view<[3, 2], strides = [1, 0]>] : tensor<3xi32> -> tensor<3x2xi32>
  func.return %r : tensor<3x2xi32>
}

// Windows overlap: no chain of movements says it, so that positions are computed, from the specification's arange.
func.func @windows(%x: tensor<5xi32>) -> tensor<3x3xi32> {
  // CHECK-LABEL: func.func @windows(
  // CHECK: %10 = tg.reduce add %9 [1] : tensor<3x3xindex> -> tensor<3x1xindex>
  // CHECK: %17 = tg.index %x[%16] : (tensor<5xi32>, tensor<9xindex>) -> tensor<9xi32>
  // CHECK-NEXT: %r = tg.reshape %17 [3, 3] : tensor<9xi32> -> tensor<3x3xi32>
  %r = tg_legacy.view %x [#tg_legacy.view<[3, 3], strides = [1, 1]>] : tensor<5xi32> -> tensor<3x3xi32>
  func.return %r : tensor<3x3xi32>
}

// The mask has zeros around it.
func.func @masked(%x: tensor<4xi32>) -> tensor<3x4xi32> {
  // CHECK-LABEL: func.func @masked(
  // CHECK-NEXT: %0 = tg.reshape %x [2, 2] : tensor<4xi32> -> tensor<2x2xi32>
  // CHECK-NEXT: %r = tg.pad %0 at [1, 1] to [3, 4] fill 0 : i32 : tensor<2x2xi32> -> tensor<3x4xi32>
  // CHECK-NEXT: func.return %r : tensor<3x4xi32>
  %r = tg_legacy.view %x [#tg_legacy.view<[3, 4], strides = [2, 1], offset = -3, mask = [[1, 3], [1, 3]]>] : tensor<4xi32> -> tensor<3x4xi32>
  func.return %r : tensor<3x4xi32>
}

// Each of merged views is one of the elements of the one before it.
func.func @merged(%x: tensor<6xi32>) -> tensor<2x3xi32> {
  // CHECK-LABEL: func.func @merged(
  // CHECK-NEXT: %0 = tg.reshape %x [2, 3] : tensor<6xi32> -> tensor<2x3xi32>
  // CHECK-NEXT: %1 = tg.permute %0 [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
  // CHECK-NEXT: %2 = tg.reshape %1 [2, 3] : tensor<3x2xi32> -> tensor<2x3xi32>
  // CHECK-NEXT: %r = tg.flip %2 [false, true] : tensor<2x3xi32>
  // CHECK-NEXT: func.return %r : tensor<2x3xi32>
  %r = tg_legacy.view %x [#tg_legacy.view<[3, 2], strides = [1, 3]>, #tg_legacy.view<[2, 3], strides = [3, -1], offset = 2>] : tensor<6xi32> -> tensor<2x3xi32>
  func.return %r : tensor<2x3xi32>
}

// A reduction adds the zeros of a mask.
func.func @summed(%x: tensor<4xi32>) -> tensor<i32> {
  // CHECK-LABEL: func.func @summed(
  // CHECK-NEXT: %v = tg.pad %x at [1] to [6] fill 0 : i32 : tensor<4xi32> -> tensor<6xi32>
  // CHECK-NEXT: %s = tg.reduce add %v [0] : tensor<6xi32> -> tensor<1xi32>
  %v = tg_legacy.view %x [#tg_legacy.view<[6], offset = -1, mask = [[1, 5]]>] : tensor<4xi32> -> tensor<6xi32>
  %s = tg_legacy.reduce_axis add %v [0] : tensor<6xi32> -> tensor<1xi32>
  %r = tg.reshape %s [] : tensor<1xi32> -> tensor<i32>
  func.return %r : tensor<i32>
}

// No element is valid.
func.func @none(%x: tensor<2xi32>) -> tensor<3xi32> {
  // CHECK-LABEL: func.func @none(
  // CHECK-NEXT: %0 = tg.shrink %x at [0] to [0] : tensor<2xi32> -> tensor<0xi32>
  // CHECK-NEXT: %r = tg.pad %0 at [1] to [3] fill 0 : i32 : tensor<0xi32> -> tensor<3xi32>
  // CHECK-NEXT: func.return %r : tensor<3xi32>
  %r = tg_legacy.view %x [#tg_legacy.view<[3], offset = 100, mask = [[1, 1]]>] : tensor<2xi32> -> tensor<3xi32>
  func.return %r : tensor<3xi32>
}

// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify,tg-verify{level=kernels} | filecheck %s
// RUN: tg-opt %s --split-input-file -p 'tg-callify,tg-rangeify{target=nvidia:sm_90}' | filecheck %s --check-prefix=GRID

// A concatenation is a kernel for each part, which loads from one operand without a gate. A grid has
// one kernel: there masks are cheap, and launches are not.

// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK:           tg.const 300
// CHECK:           %[[A:.*]] = tg.param 1 : tensor<300x100xf32
// CHECK:           %[[AT:.*]] = tg.index %[[A]][
// CHECK-NEXT:      %[[V:.*]] = tg.load %[[AT]] : tensor<f32
// CHECK-NOT:       tg.where
// CHECK:           %[[W:.*]] = tg.add %[[V]]
// CHECK:           tg.store {{.*}}, %[[W]] : tensor<f32
// CHECK:         tg.kernel @main_1
// CHECK:           tg.const 700
// CHECK:           %[[B:.*]] = tg.param 1 : tensor<700x100xf32
// CHECK-NOT:       tg.where
// CHECK:         func.func @main(%[[X:.*]]: tensor<300x100xf32{{.*}}, %[[Y:.*]]: tensor<700x100xf32
// CHECK:           tg.call @main_0(%[[OUT:.*]], %[[X]])
// CHECK:           tg.call @main_1(%{{.*}}, %[[Y]])
// GRID-LABEL: builtin.module
// GRID:         tg.kernel @main_0
// GRID-NOT:     tg.kernel @main_1
// GRID:         func.func @main
func.func @main(%x: tensor<300x100xf32>, %y: tensor<700x100xf32>) -> tensor<1000x100xf32> {
  %a = tg.pad %x at [0, 0] to [1000, 100] fill 0.000000e+00 : f32 : tensor<300x100xf32> -> tensor<1000x100xf32>
  %b = tg.pad %y at [300, 0] to [1000, 100] fill 0.000000e+00 : f32 : tensor<700x100xf32> -> tensor<1000x100xf32>
  %c = tg.add %a, %b : tensor<1000x100xf32>
  func.return %c : tensor<1000x100xf32>
}

// -----

// A small one is one kernel: a call takes longer than its masks.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK-NOT:     tg.kernel @main_1
// CHECK:         func.func @main
// GRID-LABEL: builtin.module
func.func @main(%x: tensor<3x100xf32>, %y: tensor<7x100xf32>) -> tensor<10x100xf32> {
  %a = tg.pad %x at [0, 0] to [10, 100] fill 0.000000e+00 : f32 : tensor<3x100xf32> -> tensor<10x100xf32>
  %b = tg.pad %y at [3, 0] to [10, 100] fill 0.000000e+00 : f32 : tensor<7x100xf32> -> tensor<10x100xf32>
  %c = tg.add %a, %b : tensor<10x100xf32>
  func.return %c : tensor<10x100xf32>
}

// -----

// A sum that does not depend on the loop would be computed in each part.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel
// CHECK:           tg.reduce add
// CHECK-NOT:       tg.reduce add
// CHECK:         func.func @main
// GRID-LABEL: builtin.module
func.func @main(%x: tensor<100x300xf32>, %y: tensor<100x64xf32>) -> tensor<100x1000xf32> {
  %a = tg.pad %x at [0, 0] to [100, 1000] fill 0.000000e+00 : f32 : tensor<100x300xf32> -> tensor<100x1000xf32>
  %s = tg.reduce add %y [1] : tensor<100x64xf32> -> tensor<100x1xf32>
  %c = tg.add %a, %s : (tensor<100x1000xf32>, tensor<100x1xf32>) -> tensor<100x1000xf32>
  func.return %c : tensor<100x1000xf32>
}

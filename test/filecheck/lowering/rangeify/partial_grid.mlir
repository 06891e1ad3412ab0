// RUN: tg-opt %s --split-input-file -p 'tg-callify,tg-rangeify{target=nvidia:sm_90},tg-simplify,tg-verify{level=kernels}' | filecheck %s

// A grid splits a reduction into parts for all of its processors: of 4096 elements at least.

// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK:           %[[PARTS:.*]] = tg.const 256
// CHECK:           tg.range 0 loop to %[[PARTS]]
// CHECK:           %[[EACH:.*]] = tg.const 4096
// CHECK:           tg.range 1 reduce to %[[EACH]]
// CHECK:         tg.kernel @main_1
// CHECK:           tg.reduce add
func.func @main(%x: tensor<1048576xf32>) -> tensor<1xf32> {
  %0 = tg.reduce add %x [0] : tensor<1048576xf32> -> tensor<1xf32>
  func.return %0 : tensor<1xf32>
}

// -----

// 16 columns are one workgroup by themselves.

// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK:           %[[PARTS:.*]] = tg.const 256
// CHECK:           tg.range 0 loop to %[[PARTS]]
// CHECK:         tg.kernel @main_1
func.func @main(%x: tensor<65536x16xf32>) -> tensor<1x16xf32> {
  %0 = tg.reduce add %x [0] : tensor<65536x16xf32> -> tensor<1x16xf32>
  func.return %0 : tensor<1x16xf32>
}

// -----

// The results of 132 rows are enough workgroups for 132 processors.

// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK-NOT:     tg.kernel @main_1
// CHECK:         func.func @main
func.func @main(%x: tensor<132x65536xf32>) -> tensor<132x1xf32> {
  %0 = tg.reduce add %x [1] : tensor<132x65536xf32> -> tensor<132x1xf32>
  func.return %0 : tensor<132x1xf32>
}

// -----

// A workgroup computes a tile of a product: 16 of them would leave most of 132 processors idle, so that
// each computes an eighth of the steps. Parts are the batch of a product whose results are added up.

// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK-DAG:       %[[PARTS:.*]] = tg.const 8
// CHECK-DAG:       %[[EACH:.*]] = tg.const 1024
// CHECK-DAG:       tg.range 0 loop to %[[PARTS]]
// CHECK-DAG:       tg.range 3 reduce to %[[EACH]]
// CHECK:         tg.kernel @main_1
// CHECK:           tg.reduce add
func.func @main(%a: tensor<2048x1x8192xf32>, %b: tensor<1x64x8192xf32>) -> tensor<2048x64x1xf32> {
  %0 = tg.mul %a, %b : (tensor<2048x1x8192xf32>, tensor<1x64x8192xf32>) -> tensor<2048x64x8192xf32>
  %1 = tg.reduce add %0 [2] : tensor<2048x64x8192xf32> -> tensor<2048x64x1xf32>
  func.return %1 : tensor<2048x64x1xf32>
}

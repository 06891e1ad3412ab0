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

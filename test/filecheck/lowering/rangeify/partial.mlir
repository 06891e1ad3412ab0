// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify,tg-simplify,tg-verify{level=kernels} | filecheck %s

// A reduction of much to little is one of 64 parts, that threads may share, and then one of these.

// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK:           %[[PARTS:.*]] = tg.const 64
// CHECK:           %[[P:.*]] = tg.range 0 loop to %[[PARTS]]
// CHECK:           %[[EACH:.*]] = tg.const 16384
// CHECK:           %[[K:.*]] = tg.range 1 reduce to %[[EACH]]
// CHECK:           tg.reduce add %{{.*}} [] over %[[K]]
// CHECK:         tg.kernel @main_1
// CHECK:           tg.reduce add
// CHECK:         func.func @main
func.func @main(%x: tensor<1048576xf32>) -> tensor<1xf32> {
  %0 = tg.reduce add %x [0] : tensor<1048576xf32> -> tensor<1xf32>
  func.return %0 : tensor<1xf32>
}

// -----

// Of two axes: one of them.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK:           tg.reduce max %{{.*}} [] over %{{.*}}, %{{.*}}
// CHECK:         tg.kernel @main_1
// CHECK:           tg.reduce max %{{.*}} [] over %{{[^,]*}} :
// CHECK:         func.func @main
func.func @main(%x: tensor<512x512xi32>) -> tensor<1x1xi32> {
  %0 = tg.reduce max %x [0, 1] : tensor<512x512xi32> -> tensor<1x1xi32>
  func.return %0 : tensor<1x1xi32>
}

// -----

// What parts of whole vectors leave is added when they are put together.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK:           %[[PARTS:.*]] = tg.const 44
// CHECK:           tg.range 0 loop to %[[PARTS]]
// CHECK:           %[[EACH:.*]] = tg.const 23808
// CHECK:           tg.range 1 reduce to %[[EACH]]
// CHECK:         tg.kernel @main_1
// CHECK:           %[[LEFT:.*]] = tg.const 1021
// CHECK:           %[[I:.*]] = tg.range {{.*}} reduce to %[[LEFT]]
// CHECK:           %[[START:.*]] = tg.const 1047552
// CHECK:           tg.add %[[I]], %[[START]]
// CHECK:         func.func @main
func.func @main(%x: tensor<1048573xf32>) -> tensor<1xf32> {
  %0 = tg.reduce add %x [0] : tensor<1048573xf32> -> tensor<1xf32>
  func.return %0 : tensor<1xf32>
}

// -----

// Rows have as many parts as leave fewest of them: 56 of 18.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK:           %[[PARTS:.*]] = tg.const 56
// CHECK:           tg.range {{.*}} loop to %[[PARTS]]
// CHECK:         tg.kernel @main_1
// CHECK:           tg.reduce max
// CHECK:           tg.reduce max
// CHECK:           tg.max
// CHECK:         func.func @main
func.func @main(%x: tensor<1009x1013xi32>) -> tensor<1x1xi32> {
  %0 = tg.reduce max %x [0, 1] : tensor<1009x1013xi32> -> tensor<1x1xi32>
  func.return %0 : tensor<1x1xi32>
}

// -----

// Not with results enough for threads, nor of narrow floats, which accumulate in f32, nor in order.
// CHECK-LABEL: builtin.module
// CHECK:         tg.kernel @main_0
// CHECK:         tg.kernel @main_1
// CHECK:         tg.kernel @main_2
// CHECK-NOT:     tg.kernel
// CHECK:         func.func @main
func.func @main(%x: tensor<16x65536xf32>, %h: tensor<1048576xf16>, %y: tensor<1048576xf32>)
    -> (tensor<16x1xf32>, tensor<1xf16>, tensor<1xf32>) {
  %0 = tg.reduce add %x [1] : tensor<16x65536xf32> -> tensor<16x1xf32>
  %1 = tg.reduce add %h [0] : tensor<1048576xf16> -> tensor<1xf16>
  %2 = tg.reduce add %y [0] ordered : tensor<1048576xf32> -> tensor<1xf32>
  func.return %0, %1, %2 : tensor<16x1xf32>, tensor<1xf16>, tensor<1xf32>
}

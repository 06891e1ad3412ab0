// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-verify{level=kernels})' | filecheck %s

// A value that gets a buffer and has invalid cells gets a second one, which says where it is valid: the
// maximum skips the invalid cells whether or not the power is stored.

func.func @main(%x: tensor<4096xf32>, %y: tensor<8192xf32>) -> tensor<1xf32> {
  %p = tg.pad %x at [1] to [8192] : tensor<4096xf32> -> tensor<8192xf32>
  %q = tg.pow %p, %y : tensor<8192xf32>
  %r = tg.pow %q, %y : tensor<8192xf32>
  %f = tg.flip %r [true] : tensor<8192xf32>
  %s = tg.add %r, %f : tensor<8192xf32>
  %n = tg.neg %s : tensor<8192xf32>
  %m = tg.reduce max %n [0] : tensor<8192xf32> -> tensor<1xf32>
  func.return %m : tensor<1xf32>
}

// CHECK:      tg.kernel @main_0 {
// CHECK-DAG:    %[[DATA:.*]] = tg.buffer 0 : tensor<8192xf32, #tg.place<local>>
// CHECK-DAG:    %[[MASK:.*]] = tg.buffer 1 : tensor<8192xi1, #tg.place<local>>
// CHECK:        tg.group
// CHECK:        tg.after %[[DATA]]
// CHECK:        %[[VALID:.*]] = tg.after %[[MASK]]
// CHECK:        tg.index %[[VALID]]
// CHECK:        tg.reduce max
// CHECK-NOT:  tg.kernel

// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-verify{level=kernels})' | filecheck %s

// A value that gets a buffer and has invalid cells gets a second one, which says where it is valid: the
// maximum skips the invalid cells whether or not the power is stored.

func.func @main(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<1xf32> {
  %p = tg.pad %x at [1] to [8] : tensor<4xf32> -> tensor<8xf32>
  %q = tg.pow %p, %y : tensor<8xf32>
  %r = tg.pow %q, %y : tensor<8xf32>
  %f = tg.flip %r [true] : tensor<8xf32>
  %s = tg.add %r, %f : tensor<8xf32>
  %n = tg.neg %s : tensor<8xf32>
  %m = tg.reduce max %n [0] : tensor<8xf32> -> tensor<1xf32>
  func.return %m : tensor<1xf32>
}

// CHECK:      tg.kernel @main_0 {
// CHECK:        tg.param 0 : tensor<8xf32, #tg.place<global>>
// CHECK:        %[[STORE:.*]] = tg.store
// CHECK:        %[[MASK:.*]] = tg.param {{[0-9]}} : tensor<8xi1, #tg.place<global>>
// CHECK:        tg.index %[[MASK]]
// CHECK:        %[[VALID:.*]] = tg.store
// CHECK:        %[[BOTH:.*]] = tg.group %[[STORE]], %[[VALID]]
// CHECK-NEXT:   tg.end %[[BOTH]]
// CHECK:      tg.kernel @main_1 {
// CHECK:        tg.reduce max
// CHECK:      func.func @main
// CHECK-NEXT:   tg.buffer 0 : tensor<8xf32
// CHECK-NEXT:   tg.buffer 1 : tensor<8xi1

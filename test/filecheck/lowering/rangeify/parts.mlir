// RUN: tg-opt %s --split-input-file --pass-pipeline='builtin.module(tg-callify,tg-rangeify,tg-verify{level=kernels})' | filecheck %s

// An iteration stores an element of each operand of a STACK, and chooses none.

// CHECK-LABEL: tg.kernel @stacked_0
// CHECK:         %[[I:.*]] = tg.range 0 loop to %{{.*}}
// CHECK-NEXT:    tg.const 32
// CHECK-NEXT:    %[[J:.*]] = tg.range 1 loop to %{{.*}}
// CHECK:         %[[ZERO:.*]] = tg.const 0
// CHECK-NEXT:    tg.index %out0[%[[ZERO]], %[[I]], %[[J]]]
// CHECK:         %[[FIRST:.*]] = tg.store
// CHECK:         tg.neg
// CHECK:         %[[ONE:.*]] = tg.const 1
// CHECK-NEXT:    tg.index %out0[%[[ONE]], %[[I]], %[[J]]]
// CHECK:         %[[SECOND:.*]] = tg.store
// CHECK-NEXT:    tg.group %[[FIRST]], %[[SECOND]]
// CHECK-NOT:     tg.where
// CHECK-LABEL: func.func @stacked(
func.func @stacked(%a: tensor<64x32xf32>, %b: tensor<64x32xf32>) -> tensor<2x64x32xf32> {
  %n = tg.neg %b : tensor<64x32xf32>
  %s = tg.stack %a, %n : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<2x64x32xf32>
  func.return %s : tensor<2x64x32xf32>
}

// -----

// Operands that read the cells which an iteration writes are computed in it.

// CHECK-LABEL: tg.kernel @over_itself_0
// CHECK:         tg.store
// CHECK:         tg.store
// CHECK-LABEL: func.func @over_itself(
// CHECK-NOT:     tg.buffer
// CHECK:         tg.call @over_itself_0(%x)
func.func @over_itself(%x: tensor<2x8xf32, #tg.place<"CPU", global>>) {
  %l = tg.load %x : tensor<2x8xf32, #tg.place<"CPU", global>> -> tensor<2x8xf32, #tg.place<"CPU">>
  %0 = tg.shrink %x at [0, 0] to [1, 8] : tensor<2x8xf32, #tg.place<"CPU", global>> -> tensor<1x8xf32, #tg.place<"CPU", global>>
  %1 = tg.shrink %x at [1, 0] to [1, 8] : tensor<2x8xf32, #tg.place<"CPU", global>> -> tensor<1x8xf32, #tg.place<"CPU", global>>
  %a = tg.reshape %0 [8] : tensor<1x8xf32, #tg.place<"CPU", global>> -> tensor<8xf32, #tg.place<"CPU", global>>
  %b = tg.reshape %1 [8] : tensor<1x8xf32, #tg.place<"CPU", global>> -> tensor<8xf32, #tg.place<"CPU", global>>
  %n = tg.neg %a : tensor<8xf32, #tg.place<"CPU", global>> -> tensor<8xf32, #tg.place<"CPU">>
  %m = tg.neg %b : tensor<8xf32, #tg.place<"CPU", global>> -> tensor<8xf32, #tg.place<"CPU">>
  %s = tg.stack %m, %n : (tensor<8xf32, #tg.place<"CPU">>, tensor<8xf32, #tg.place<"CPU">>) -> tensor<2x8xf32, #tg.place<"CPU">>
  %t = tg.store %x, %s : tensor<2x8xf32, #tg.place<"CPU", global>>, tensor<2x8xf32, #tg.place<"CPU">>
  func.return
}

// -----

// An operand that reads cells which another iteration writes is computed before.

// CHECK-LABEL: tg.kernel @over_others_0
// CHECK-LABEL: tg.kernel @over_others_1
// CHECK-LABEL: func.func @over_others(
// CHECK:         %[[B:.*]] = tg.buffer
// CHECK:         tg.call @over_others_0(%[[B]], %x)
// CHECK:         tg.call @over_others_1(%{{.*}}, %{{.*}})
func.func @over_others(%x: tensor<2x8xf32, #tg.place<"CPU", global>>) {
  %l = tg.load %x : tensor<2x8xf32, #tg.place<"CPU", global>> -> tensor<2x8xf32, #tg.place<"CPU">>
  %0 = tg.shrink %x at [0, 0] to [1, 8] : tensor<2x8xf32, #tg.place<"CPU", global>> -> tensor<1x8xf32, #tg.place<"CPU", global>>
  %1 = tg.shrink %x at [1, 0] to [1, 8] : tensor<2x8xf32, #tg.place<"CPU", global>> -> tensor<1x8xf32, #tg.place<"CPU", global>>
  %a = tg.reshape %0 [8] : tensor<1x8xf32, #tg.place<"CPU", global>> -> tensor<8xf32, #tg.place<"CPU", global>>
  %b = tg.reshape %1 [8] : tensor<1x8xf32, #tg.place<"CPU", global>> -> tensor<8xf32, #tg.place<"CPU", global>>
  %f = tg.flip %a [true] : tensor<8xf32, #tg.place<"CPU", global>>
  %n = tg.neg %f : tensor<8xf32, #tg.place<"CPU", global>> -> tensor<8xf32, #tg.place<"CPU">>
  %m = tg.neg %b : tensor<8xf32, #tg.place<"CPU", global>> -> tensor<8xf32, #tg.place<"CPU">>
  %s = tg.stack %m, %n : (tensor<8xf32, #tg.place<"CPU">>, tensor<8xf32, #tg.place<"CPU">>) -> tensor<2x8xf32, #tg.place<"CPU">>
  %t = tg.store %x, %s : tensor<2x8xf32, #tg.place<"CPU", global>>, tensor<2x8xf32, #tg.place<"CPU">>
  func.return
}

// -----

// A product of which a kernel reads several parts, as the gates of an LSTM, is stored, and so is one that is an
// operand of a STACK: each has a kernel of its own.

// CHECK-LABEL: tg.kernel @gates_0
// CHECK:         tg.reduce add
// CHECK-LABEL: tg.kernel @gates_1
// CHECK-NOT:     tg.reduce
// CHECK-LABEL: func.func @gates(
func.func @gates(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> tensor<16x32xf32> {
  %a = tg.reshape %x [16, 1, 64] : tensor<16x64xf32> -> tensor<16x1x64xf32>
  %b = tg.reshape %w [1, 64, 64] : tensor<64x64xf32> -> tensor<1x64x64xf32>
  %p = tg.mul %a, %b : (tensor<16x1x64xf32>, tensor<1x64x64xf32>) -> tensor<16x64x64xf32>
  %s = tg.reduce add %p [2] : tensor<16x64x64xf32> -> tensor<16x64x1xf32>
  %r = tg.reshape %s [16, 64] : tensor<16x64x1xf32> -> tensor<16x64xf32>
  %i = tg.shrink %r at [0, 0] to [16, 32] : tensor<16x64xf32> -> tensor<16x32xf32>
  %f = tg.shrink %r at [0, 32] to [16, 32] : tensor<16x64xf32> -> tensor<16x32xf32>
  %m = tg.mul %i, %f : tensor<16x32xf32>
  func.return %m : tensor<16x32xf32>
}

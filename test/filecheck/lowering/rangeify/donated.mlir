// RUN: tg-opt %s --split-input-file --pass-pipeline='builtin.module(tg-callify,tg-rangeify)' | filecheck %s

// A kernel reads a cell of a donated argument and writes it: the result has no memory of its own.

// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %p: tensor<8x4xf32, #tg.place<"CPU", global>> {tg.result = 0 : i64}, %g: tensor<8x4xf32, #tg.place<"CPU", global>>)
// CHECK-NEXT:    tg.call @elementwise_0(%p, %g)
func.func @elementwise(%p: tensor<8x4xf32> {tg.donated = 0 : i64}, %g: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = tg.mul %g, %g : tensor<8x4xf32>
  %1 = tg.add %p, %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// Of a result that keeps most cells of a donated argument only the others are written. The readers
// of the old cells come first.

// CHECK-LABEL: tg.kernel @row_0
// CHECK-LABEL: tg.kernel @row_1
// CHECK:         %[[C:.*]] = tg.param 0 : tensor<2048x64xf32
// CHECK:         %[[N:.*]] = tg.const 64
// CHECK:         tg.range 0 loop to %[[N]]
// CHECK-NOT:     tg.range
// CHECK-LABEL: func.func @row(
// CHECK-SAME:    %c: tensor<2048x64xf32, #tg.place<"CPU", global>> {tg.result = 1 : i64}, %x: tensor<1x64xf32, #tg.place<"CPU", global>>, %out0: tensor<2048x1xf32, #tg.place<"CPU", global>> {tg.output})
// CHECK-NEXT:    %[[SUM:.*]] = tg.call @row_0(%out0, %c)
// CHECK-NEXT:    %[[FREE:.*]] = tg.after %c, %[[SUM]]
// CHECK-NEXT:    tg.call @row_1(%[[FREE]], %x)
func.func @row(%c: tensor<2048x64xf32> {tg.donated = 1 : i64}, %x: tensor<1x64xf32>) -> (tensor<2048x1xf32>, tensor<2048x64xf32>) {
  %true = tg.const true : tensor<i1>
  %one = tg.reshape %true [1, 1] : tensor<i1> -> tensor<1x1xi1>
  %ones = tg.expand %one [1, 64] : tensor<1x1xi1> -> tensor<1x64xi1>
  %mask = tg.pad %ones at [7, 0] to [2048, 64] fill false : tensor<1x64xi1> -> tensor<2048x64xi1>
  %new = tg.pad %x at [7, 0] to [2048, 64] fill 0.0 : f32 : tensor<1x64xf32> -> tensor<2048x64xf32>
  %1 = tg.where %mask, %new, %c : (tensor<2048x64xi1>, tensor<2048x64xf32>, tensor<2048x64xf32>) -> tensor<2048x64xf32>
  %2 = tg.reduce add %c [1] : tensor<2048x64xf32> -> tensor<2048x1xf32>
  return %2, %1 : tensor<2048x1xf32>, tensor<2048x64xf32>
}

// -----

// What two results read is overwritten by the last one.

// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %a: tensor<4xf32, #tg.place<"CPU", global>> {tg.result = 0 : i64}, %b: tensor<4xf32, #tg.place<"CPU", global>>, %out1: tensor<4xf32, #tg.place<"CPU", global>> {tg.output})
// CHECK:         %[[READ:.*]] = tg.call @both_0(%out1, %a, %b)
// CHECK:         %[[FREE:.*]] = tg.after %a, %[[READ]]
// CHECK:         tg.call @both_1(%[[FREE]], %b)
func.func @both(%a: tensor<4xf32> {tg.donated = 0 : i64}, %b: tensor<4xf32> {tg.donated = 1 : i64}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tg.add %a, %b : tensor<4xf32>
  %1 = tg.mul %a, %b : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A kernel that reads other cells than it writes has other memory for the result.

// CHECK-LABEL: func.func @reverse(
// CHECK-SAME:    %a: tensor<4xf32, #tg.place<"CPU", global>>, %out0
func.func @reverse(%a: tensor<4xf32> {tg.donated = -1 : i64}) -> tensor<4xf32> {
  %0 = tg.flip %a [true] : tensor<4xf32>
  %1 = tg.neg %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A result that equals a donated argument, and any result of its type.

// CHECK-LABEL: func.func @any(
// CHECK-SAME:    %a: tensor<4xf32, #tg.place<"CPU", global>> {tg.result = 1 : i64}, %out0: tensor<2xf32, #tg.place<"CPU", global>> {tg.output})
func.func @any(%a: tensor<4xf32> {tg.donated = -1 : i64}) -> (tensor<2xf32>, tensor<4xf32>) {
  %0 = tg.shrink %a at [1] to [2] : tensor<4xf32> -> tensor<2xf32>
  %1 = tg.neg %0 : tensor<2xf32>
  %2 = tg.neg %a : tensor<4xf32>
  return %1, %2 : tensor<2xf32>, tensor<4xf32>
}

// -----

// Readers of a result that replaces a window read it from the memory of the argument.

// CHECK-LABEL: tg.kernel @read_1
// CHECK-NOT:     tg.where
// CHECK-LABEL: func.func @read(
// CHECK-NEXT:    %[[WRITE:.*]] = tg.call @read_0(%c, %x)
// CHECK-NEXT:    %[[NEW:.*]] = tg.after %c, %[[WRITE]]
// CHECK-NEXT:    tg.call @read_1(%out1, %[[NEW]])
func.func @read(%c: tensor<2048x64xf32> {tg.donated = 0 : i64}, %x: tensor<1x64xf32>) -> (tensor<2048x64xf32>, tensor<2048x1xf32>) {
  %true = tg.const true : tensor<i1>
  %one = tg.reshape %true [1, 1] : tensor<i1> -> tensor<1x1xi1>
  %ones = tg.expand %one [1, 64] : tensor<1x1xi1> -> tensor<1x64xi1>
  %mask = tg.pad %ones at [7, 0] to [2048, 64] fill false : tensor<1x64xi1> -> tensor<2048x64xi1>
  %new = tg.pad %x at [7, 0] to [2048, 64] fill 0.0 : f32 : tensor<1x64xf32> -> tensor<2048x64xf32>
  %1 = tg.where %mask, %new, %c : (tensor<2048x64xi1>, tensor<2048x64xf32>, tensor<2048x64xf32>) -> tensor<2048x64xf32>
  %2 = tg.reduce add %1 [1] : tensor<2048x64xf32> -> tensor<2048x1xf32>
  return %1, %2 : tensor<2048x64xf32>, tensor<2048x1xf32>
}

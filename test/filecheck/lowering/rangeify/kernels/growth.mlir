// RUN: tg-opt %s --split-input-file -p tg-callify,tg-rangeify,tg-simplify | filecheck %s

// What the specification writes with masks and reductions has the order of growth of what a person
// would write.

// arange(n) is the index: O(n).
// CHECK-LABEL: builtin.module
// CHECK-NEXT: tg.kernel @main_0
// CHECK: %[[I:.*]] = tg.range 0 loop to
// CHECK-NOT: tg.range
// CHECK-NOT: tg.reduce
// CHECK: tg.store
// CHECK-NEXT: tg.end %{{.*}} over %[[I]]
func.func @main() -> tensor<100xi32> {
  %0 = tg.const 1 : tensor<i32>
  %1 = tg.reshape %0 [1] : tensor<i32> -> tensor<1xi32>
  %2 = tg.expand %1 [100] : tensor<1xi32> -> tensor<100xi32>
  %3 = tg.pad %2 at [99] to [199] : tensor<100xi32> -> tensor<199xi32>
  %4 = tg.reshape %3 [1, 199] : tensor<199xi32> -> tensor<1x199xi32>
  %5 = tg.expand %4 [101, 199] : tensor<1x199xi32> -> tensor<101x199xi32>
  %6 = tg.reshape %5 [20099] : tensor<101x199xi32> -> tensor<20099xi32>
  %7 = tg.shrink %6 at [0] to [20000] : tensor<20099xi32> -> tensor<20000xi32>
  %8 = tg.reshape %7 [100, 200] : tensor<20000xi32> -> tensor<100x200xi32>
  %9 = tg.shrink %8 at [0, 0] to [100, 100] : tensor<100x200xi32> -> tensor<100x100xi32>
  %10 = tg.reduce add %9 [1] : tensor<100x100xi32> -> tensor<100x1xi32>
  %11 = tg.reshape %10 [100] : tensor<100x1xi32> -> tensor<100xi32>
  %12 = tg.const 1 : tensor<i32>
  %13 = tg.sub %11, %12 : (tensor<100xi32>, tensor<i32>) -> tensor<100xi32>
  func.return %13 : tensor<100xi32>
}

// -----

// A gather of D from K elements is D loads, each where the index says: O(D).
// CHECK-LABEL: builtin.module
// CHECK-NEXT: tg.kernel @main_0
// CHECK: %[[N:.*]] = tg.const 1200
// CHECK: %[[I:.*]] = tg.range 0 loop to %[[N]]
// CHECK-NOT: tg.range
// CHECK: %[[AT:.*]] = tg.cast %{{.*}} to index
// CHECK: tg.index %t[%[[AT]]]
// CHECK: tg.store
// CHECK-NEXT: tg.end %{{.*}} over %[[I]]
func.func @main(%t: tensor<500xf32>, %idx: tensor<1200xi32>) -> tensor<1200xf32> {
  %0 = tg.const 1 : tensor<i32>
  %1 = tg.reshape %0 [1] : tensor<i32> -> tensor<1xi32>
  %2 = tg.expand %1 [500] : tensor<1xi32> -> tensor<500xi32>
  %3 = tg.pad %2 at [499] to [999] : tensor<500xi32> -> tensor<999xi32>
  %4 = tg.reshape %3 [1, 999] : tensor<999xi32> -> tensor<1x999xi32>
  %5 = tg.expand %4 [501, 999] : tensor<1x999xi32> -> tensor<501x999xi32>
  %6 = tg.reshape %5 [500499] : tensor<501x999xi32> -> tensor<500499xi32>
  %7 = tg.shrink %6 at [0] to [500000] : tensor<500499xi32> -> tensor<500000xi32>
  %8 = tg.reshape %7 [500, 1000] : tensor<500000xi32> -> tensor<500x1000xi32>
  %9 = tg.shrink %8 at [0, 0] to [500, 500] : tensor<500x1000xi32> -> tensor<500x500xi32>
  %10 = tg.reduce add %9 [1] : tensor<500x500xi32> -> tensor<500x1xi32>
  %11 = tg.reshape %10 [500] : tensor<500x1xi32> -> tensor<500xi32>
  %12 = tg.const 1 : tensor<i32>
  %13 = tg.sub %11, %12 : (tensor<500xi32>, tensor<i32>) -> tensor<500xi32>
  %14 = tg.reshape %13 [500, 1] : tensor<500xi32> -> tensor<500x1xi32>
  %15 = tg.reshape %idx [1, 1200] : tensor<1200xi32> -> tensor<1x1200xi32>
  %16 = tg.cmpeq %14, %15 : (tensor<500x1xi32>, tensor<1x1200xi32>) -> tensor<500x1200xi1>
  %17 = tg.cast %16 to f32 : tensor<500x1200xi1> -> tensor<500x1200xf32>
  %18 = tg.reshape %t [500, 1] : tensor<500xf32> -> tensor<500x1xf32>
  %19 = tg.mul %18, %17 : (tensor<500x1xf32>, tensor<500x1200xf32>) -> tensor<500x1200xf32>
  %20 = tg.reduce add %19 [0] : tensor<500x1200xf32> -> tensor<1x1200xf32>
  %21 = tg.reshape %20 [1200] : tensor<1x1200xf32> -> tensor<1200xf32>
  func.return %21 : tensor<1200xf32>
}

// -----

// One-hot times matrix copies the rows that are asked for: O(D C).
// CHECK-LABEL: builtin.module
// CHECK-NEXT: tg.kernel @main_0
// CHECK: %[[I:.*]] = tg.range 0 loop to
// CHECK: %[[J:.*]] = tg.range 1 loop to
// CHECK-NOT: tg.range
// CHECK: %[[AT:.*]] = tg.cast %{{.*}} to index
// CHECK: tg.index %t[%[[AT]], %[[J]]]
// CHECK: tg.store
// CHECK-NEXT: tg.end %{{.*}} over %[[J]], %[[I]]
func.func @main(%idx: tensor<30xi32>, %t: tensor<500x64xf32>) -> tensor<30x64xf32> {
  %0 = tg.const 1 : tensor<i32>
  %1 = tg.reshape %0 [1] : tensor<i32> -> tensor<1xi32>
  %2 = tg.expand %1 [500] : tensor<1xi32> -> tensor<500xi32>
  %3 = tg.pad %2 at [499] to [999] : tensor<500xi32> -> tensor<999xi32>
  %4 = tg.reshape %3 [1, 999] : tensor<999xi32> -> tensor<1x999xi32>
  %5 = tg.expand %4 [501, 999] : tensor<1x999xi32> -> tensor<501x999xi32>
  %6 = tg.reshape %5 [500499] : tensor<501x999xi32> -> tensor<500499xi32>
  %7 = tg.shrink %6 at [0] to [500000] : tensor<500499xi32> -> tensor<500000xi32>
  %8 = tg.reshape %7 [500, 1000] : tensor<500000xi32> -> tensor<500x1000xi32>
  %9 = tg.shrink %8 at [0, 0] to [500, 500] : tensor<500x1000xi32> -> tensor<500x500xi32>
  %10 = tg.reduce add %9 [1] : tensor<500x500xi32> -> tensor<500x1xi32>
  %11 = tg.reshape %10 [500] : tensor<500x1xi32> -> tensor<500xi32>
  %12 = tg.const 1 : tensor<i32>
  %13 = tg.sub %11, %12 : (tensor<500xi32>, tensor<i32>) -> tensor<500xi32>
  %14 = tg.reshape %13 [1, 500] : tensor<500xi32> -> tensor<1x500xi32>
  %15 = tg.reshape %idx [30, 1] : tensor<30xi32> -> tensor<30x1xi32>
  %16 = tg.cmpeq %14, %15 : (tensor<1x500xi32>, tensor<30x1xi32>) -> tensor<30x500xi1>
  %17 = tg.cast %16 to f32 : tensor<30x500xi1> -> tensor<30x500xf32>
  %18 = tg.reshape %17 [30, 500, 1] : tensor<30x500xf32> -> tensor<30x500x1xf32>
  %19 = tg.reshape %t [1, 500, 64] : tensor<500x64xf32> -> tensor<1x500x64xf32>
  %20 = tg.mul %18, %19 : (tensor<30x500x1xf32>, tensor<1x500x64xf32>) -> tensor<30x500x64xf32>
  %21 = tg.reduce add %20 [1] : tensor<30x500x64xf32> -> tensor<30x1x64xf32>
  %22 = tg.reshape %21 [30, 64] : tensor<30x1x64xf32> -> tensor<30x64xf32>
  func.return %22 : tensor<30x64xf32>
}

// -----

// scatter_add is a loop over the K cells, then one over the D updates: O(K + D).
// CHECK-LABEL: builtin.module
// CHECK-NEXT: tg.kernel @main_0
// CHECK: %[[K:.*]] = tg.range 0 loop to
// CHECK: %[[D:.*]] = tg.range 1 reduce to
// CHECK: %[[AT:.*]] = tg.cast %{{.*}} to index
// CHECK: %[[BASE:.*]] = tg.store
// CHECK-NEXT: %[[FIRST:.*]] = tg.end %[[BASE]] over %[[K]]
// CHECK-NEXT: %[[AFTER:.*]] = tg.after %out0, %[[FIRST]]
// CHECK-NEXT: %[[CELL:.*]] = tg.index %[[AFTER]][%[[AT]]]
// CHECK-NEXT: %[[ADD:.*]] = tg.atomicadd %[[CELL]]
// CHECK-NEXT: tg.end %[[ADD]] over %[[D]]
func.func @main(%t: tensor<500xf32>, %idx: tensor<1200xi32>, %val: tensor<1200xf32>) -> tensor<500xf32> {
  %0 = tg.const 1 : tensor<i32>
  %1 = tg.reshape %0 [1] : tensor<i32> -> tensor<1xi32>
  %2 = tg.expand %1 [500] : tensor<1xi32> -> tensor<500xi32>
  %3 = tg.pad %2 at [499] to [999] : tensor<500xi32> -> tensor<999xi32>
  %4 = tg.reshape %3 [1, 999] : tensor<999xi32> -> tensor<1x999xi32>
  %5 = tg.expand %4 [501, 999] : tensor<1x999xi32> -> tensor<501x999xi32>
  %6 = tg.reshape %5 [500499] : tensor<501x999xi32> -> tensor<500499xi32>
  %7 = tg.shrink %6 at [0] to [500000] : tensor<500499xi32> -> tensor<500000xi32>
  %8 = tg.reshape %7 [500, 1000] : tensor<500000xi32> -> tensor<500x1000xi32>
  %9 = tg.shrink %8 at [0, 0] to [500, 500] : tensor<500x1000xi32> -> tensor<500x500xi32>
  %10 = tg.reduce add %9 [1] : tensor<500x500xi32> -> tensor<500x1xi32>
  %11 = tg.reshape %10 [500] : tensor<500x1xi32> -> tensor<500xi32>
  %12 = tg.const 1 : tensor<i32>
  %13 = tg.sub %11, %12 : (tensor<500xi32>, tensor<i32>) -> tensor<500xi32>
  %14 = tg.reshape %13 [500, 1] : tensor<500xi32> -> tensor<500x1xi32>
  %15 = tg.reshape %idx [1, 1200] : tensor<1200xi32> -> tensor<1x1200xi32>
  %16 = tg.cmpeq %14, %15 : (tensor<500x1xi32>, tensor<1x1200xi32>) -> tensor<500x1200xi1>
  %17 = tg.cast %16 to f32 : tensor<500x1200xi1> -> tensor<500x1200xf32>
  %18 = tg.reshape %val [1, 1200] : tensor<1200xf32> -> tensor<1x1200xf32>
  %19 = tg.mul %17, %18 : (tensor<500x1200xf32>, tensor<1x1200xf32>) -> tensor<500x1200xf32>
  %20 = tg.reduce add %19 [1] : tensor<500x1200xf32> -> tensor<500x1xf32>
  %21 = tg.reshape %20 [500] : tensor<500x1xf32> -> tensor<500xf32>
  %22 = tg.add %t, %21 : tensor<500xf32>
  func.return %22 : tensor<500xf32>
}

// -----

// A prefix sum carries its accumulator from element to element: O(n).
// CHECK-LABEL: builtin.module
// CHECK-NEXT: tg.kernel @main_0
// CHECK: %[[I:.*]] = tg.range 0 reduce to
// CHECK-NOT: tg.range
// CHECK: %[[OLD:.*]] = tg.load %{{.*}} : tensor<f32, #tg.place<reg>>
// CHECK: %[[NEW:.*]] = tg.add %[[OLD]]
// CHECK: tg.end %{{.*}} over %[[I]]
func.func @main(%t: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = tg.pad %t at [999] to [1999] : tensor<1000xf32> -> tensor<1999xf32>
  %1 = tg.reshape %0 [1, 1999] : tensor<1999xf32> -> tensor<1x1999xf32>
  %2 = tg.expand %1 [1001, 1999] : tensor<1x1999xf32> -> tensor<1001x1999xf32>
  %3 = tg.reshape %2 [2000999] : tensor<1001x1999xf32> -> tensor<2000999xf32>
  %4 = tg.shrink %3 at [0] to [2000000] : tensor<2000999xf32> -> tensor<2000000xf32>
  %5 = tg.reshape %4 [1000, 2000] : tensor<2000000xf32> -> tensor<1000x2000xf32>
  %6 = tg.shrink %5 at [0, 0] to [1000, 1000] : tensor<1000x2000xf32> -> tensor<1000x1000xf32>
  %7 = tg.reduce add %6 [1] : tensor<1000x1000xf32> -> tensor<1000x1xf32>
  %8 = tg.reshape %7 [1000] : tensor<1000x1xf32> -> tensor<1000xf32>
  func.return %8 : tensor<1000xf32>
}

// -----

// A cumulative sum along the first axis, too: its loop becomes the inner one.
// CHECK-LABEL: builtin.module
// CHECK-NEXT: tg.kernel @main_0
// CHECK: %[[J:.*]] = tg.range 0 loop to
// CHECK: %[[I:.*]] = tg.range 1 reduce to
// CHECK-NOT: tg.range
// CHECK: tg.index %t[%[[I]], %[[J]]]
// CHECK: tg.end %{{.*}} over %[[I]], %[[J]]
func.func @main(%t: tensor<100x64xf32>) -> tensor<100x64xf32> {
  %0 = tg.permute %t [1, 0] : tensor<100x64xf32> -> tensor<64x100xf32>
  %1 = tg.pad %0 at [0, 99] to [64, 199] : tensor<64x100xf32> -> tensor<64x199xf32>
  %2 = tg.reshape %1 [64, 1, 199] : tensor<64x199xf32> -> tensor<64x1x199xf32>
  %3 = tg.expand %2 [64, 101, 199] : tensor<64x1x199xf32> -> tensor<64x101x199xf32>
  %4 = tg.reshape %3 [64, 20099] : tensor<64x101x199xf32> -> tensor<64x20099xf32>
  %5 = tg.shrink %4 at [0, 0] to [64, 20000] : tensor<64x20099xf32> -> tensor<64x20000xf32>
  %6 = tg.reshape %5 [64, 100, 200] : tensor<64x20000xf32> -> tensor<64x100x200xf32>
  %7 = tg.shrink %6 at [0, 0, 0] to [64, 100, 100] : tensor<64x100x200xf32> -> tensor<64x100x100xf32>
  %8 = tg.reduce add %7 [2] : tensor<64x100x100xf32> -> tensor<64x100x1xf32>
  %9 = tg.reshape %8 [64, 100] : tensor<64x100x1xf32> -> tensor<64x100xf32>
  %10 = tg.permute %9 [1, 0] : tensor<64x100xf32> -> tensor<100x64xf32>
  func.return %10 : tensor<100x64xf32>
}

// -----

// Padding, turning around, reshaping and cutting copy nothing: one kernel that reads where it has to.
// CHECK-LABEL: builtin.module
// CHECK-NEXT: tg.kernel @main_0
// CHECK: tg.range 0 loop to
// CHECK: tg.range 1 loop to
// CHECK-NOT: tg.range
// CHECK-NOT: tg.buffer
// CHECK: tg.store
// CHECK-NOT: tg.kernel
func.func @main(%t: tensor<30x40xf32>) -> tensor<40x30xf32> {
  %0 = tg.pad %t at [1, 0] to [32, 40] : tensor<30x40xf32> -> tensor<32x40xf32>
  %1 = tg.flip %0 [true, false] : tensor<32x40xf32>
  %2 = tg.reshape %1 [1280] : tensor<32x40xf32> -> tensor<1280xf32>
  %3 = tg.shrink %2 at [40] to [1200] : tensor<1280xf32> -> tensor<1200xf32>
  %4 = tg.reshape %3 [30, 40] : tensor<1200xf32> -> tensor<30x40xf32>
  %5 = tg.permute %4 [1, 0] : tensor<30x40xf32> -> tensor<40x30xf32>
  func.return %5 : tensor<40x30xf32>
}

// -----

// The sum of a constant is a constant.
// CHECK-LABEL: builtin.module
// CHECK-NEXT: tg.kernel @main_0
// CHECK: tg.range 0 loop to
// CHECK-NOT: tg.range
// CHECK: %[[SUM:.*]] = tg.const 2.500000e+03
// CHECK: tg.store %{{.*}}, %[[SUM]]
func.func @main() -> tensor<40xf32> {
  %0 = tg.const 2.500000e+00 : tensor<f32>
  %1 = tg.reshape %0 [1, 1] : tensor<f32> -> tensor<1x1xf32>
  %2 = tg.expand %1 [40, 1000] : tensor<1x1xf32> -> tensor<40x1000xf32>
  %3 = tg.reduce add %2 [1] : tensor<40x1000xf32> -> tensor<40x1xf32>
  %4 = tg.reshape %3 [40] : tensor<40x1xf32> -> tensor<40xf32>
  func.return %4 : tensor<40xf32>
}

// RUN: tg-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tg-callify,tg-rangeify)' | filecheck %s

// Memory is versioned: a read without AFTER comes before the STORE, a read AFTER it comes after.

// CHECK-LABEL: func.func @order
// CHECK:         %[[OLD:.*]] = tg.call @order_0(%out0, %x)
// CHECK:         %[[FREE:.*]] = tg.after %x, %[[OLD]]
// CHECK:         %[[WRITE:.*]] = tg.call @order_1(%[[FREE]])
// CHECK:         %[[NEW:.*]] = tg.after %x, %[[WRITE]]
// CHECK:         tg.call @order_0(%out1, %[[NEW]])
func.func @order(%x: tensor<4xf32, #tg.place<"CPU", global>>) -> (tensor<4xf32, #tg.place<"CPU">>, tensor<4xf32, #tg.place<"CPU">>) {
  %zero = tg.const 0.0 : tensor<f32>
  %one = tg.reshape %zero [1] : tensor<f32> -> tensor<1xf32>
  %zeros = tg.expand %one [4] : tensor<1xf32> -> tensor<4xf32>
  %s = tg.store %x, %zeros : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  %new = tg.after %x, %s : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  %a = tg.neg %x : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  %b = tg.neg %new : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  func.return %a, %b : tensor<4xf32, #tg.place<"CPU">>, tensor<4xf32, #tg.place<"CPU">>
}

// -----

// A STORE that reads other cells of what it writes goes through a copy.

// CHECK-LABEL: func.func @reverse
// CHECK:         %[[T:.*]] = tg.buffer 0
// CHECK:         %[[C:.*]] = tg.call @reverse_0(%[[T]], %x)
// CHECK:         tg.call @reverse_1(%{{.*}}, %{{.*}})
func.func @reverse(%x: tensor<4xf32, #tg.place<"CPU", global>>) {
  %f = tg.flip %x [true] : tensor<4xf32, #tg.place<"CPU", global>>
  %s = tg.store %x, %f : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>
  func.return
}

// -----

// Reading only the cell that is written needs no copy.

// CHECK-LABEL: func.func @increment
// CHECK-NOT:     tg.buffer
// CHECK:         tg.call @increment_0(%x)
func.func @increment(%x: tensor<4xf32, #tg.place<"CPU", global>>) {
  %one = tg.const 1.0 : tensor<f32>
  %y = tg.add %x, %one : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<f32>) -> tensor<4xf32, #tg.place<"CPU">>
  %s = tg.store %x, %y : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU">>
  func.return
}

// -----

// Two stores that no AFTER orders may not write one cell, but halves do not meet.

// CHECK-LABEL: func.func @halves
// CHECK:         tg.call @halves_0
// CHECK:         tg.call @halves_1
func.func @halves(%x: tensor<4xf32, #tg.place<"CPU", global>>, %y: tensor<2xf32>) {
  %lo = tg.shrink %x at [0] to [2] : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<2xf32, #tg.place<"CPU", global>>
  %hi = tg.shrink %x at [2] to [2] : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<2xf32, #tg.place<"CPU", global>>
  %s = tg.store %lo, %y : tensor<2xf32, #tg.place<"CPU", global>>, tensor<2xf32>
  %t = tg.store %hi, %y : tensor<2xf32, #tg.place<"CPU", global>>, tensor<2xf32>
  func.return
}

// -----

func.func @race(%x: tensor<4xf32, #tg.place<"CPU", global>>, %y: tensor<4xf32>) {
  %s = tg.store %x, %y : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  // expected-error@below {{a race: two unordered stores may write one cell}}
  %t = tg.store %x, %y : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  func.return
}

// -----

// A cell of a window is the window's offset from the start: cell 4 is not in the first half.

// CHECK-LABEL: func.func @cell_of_window
// CHECK:         tg.call @cell_of_window_0
// CHECK:         tg.call @cell_of_window_1
func.func @cell_of_window(%x: tensor<8xf32, #tg.place<"CPU", global>>, %y: tensor<4xf32>, %z: tensor<f32>) {
  %zero = tg.const 0 : tensor<index>
  %lo = tg.shrink %x at [0] to [4] : tensor<8xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", global>>
  %hi = tg.shrink %x at [4] to [4] : tensor<8xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", global>>
  %cell = tg.index %hi[%zero] : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<index>) -> tensor<f32, #tg.place<"CPU", global>>
  %s = tg.store %lo, %y : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  %t = tg.store %cell, %z : tensor<f32, #tg.place<"CPU", global>>, tensor<f32>
  func.return
}

// -----

func.func @race_in_window(%x: tensor<8xf32, #tg.place<"CPU", global>>, %z: tensor<f32>) {
  %zero = tg.const 0 : tensor<index>
  %four = tg.const 4 : tensor<index>
  %hi = tg.shrink %x at [4] to [4] : tensor<8xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", global>>
  %a = tg.index %hi[%zero] : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<index>) -> tensor<f32, #tg.place<"CPU", global>>
  %b = tg.index %x[%four] : (tensor<8xf32, #tg.place<"CPU", global>>, tensor<index>) -> tensor<f32, #tg.place<"CPU", global>>
  %s = tg.store %a, %z : tensor<f32, #tg.place<"CPU", global>>, tensor<f32>
  // expected-error@below {{a race: two unordered stores may write one cell}}
  %t = tg.store %b, %z : tensor<f32, #tg.place<"CPU", global>>, tensor<f32>
  func.return
}

// -----

// One kernel would need x both before and after the STORE.

func.func @cycle(%x: tensor<4xf32, #tg.place<"CPU", global>>, %y: tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU">> {
  // expected-error@below {{a cycle: this needs memory both before and after a STORE}}
  %s = tg.store %x, %y : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  %new = tg.after %x, %s : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  %d = tg.sub %new, %x : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> tensor<4xf32, #tg.place<"CPU">>
  func.return %d : tensor<4xf32, #tg.place<"CPU">>
}

// -----

tg.kernel @copy {
  %p = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %q = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %n = tg.const 4 : tensor<index>
  %r = tg.range 0 loop to %n : tensor<index>
  %i = tg.index %p[%r] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %j = tg.index %q[%r] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %y = tg.load %j : tensor<f32, #tg.place<global>> -> tensor<f32>
  %st = tg.store %i, %y : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %st over %r : !tg.void
  %s = tg.sink %e : !tg.void
}
// Each CALL reads what the other one writes, as it was before: from copies.
// CHECK-LABEL: func.func @swap(
// CHECK:         %[[READ_B:.*]] = tg.call @swap_0(%[[OLD_B:.*]], %b)
// CHECK:         %[[READ_A:.*]] = tg.call @swap_0(%[[OLD_A:.*]], %a)
// CHECK:         %[[A:.*]] = tg.after %a, %[[READ_A]]
// CHECK:         tg.call @copy(%[[A]], %{{.*}})
// CHECK:         %[[B:.*]] = tg.after %b, %[[READ_B]]
// CHECK:         tg.call @copy(%[[B]], %{{.*}})
func.func @swap(%a: tensor<4xf32, #tg.place<"CPU", global>>, %b: tensor<4xf32, #tg.place<"CPU", global>>) {
  %0 = tg.call @copy(%a, %b) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  %2 = tg.call @copy(%b, %a) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
  %1 = tg.sink %0, %2 : !tg.void, !tg.void
  func.return
}

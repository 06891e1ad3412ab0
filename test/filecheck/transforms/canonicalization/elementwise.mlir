// RUN: tg-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: @neutral
// CHECK-NEXT: func.return %i, %i, %i, %i, %x, %x, %x, %x
func.func @neutral(%i: tensor<4xi32>, %x: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %i0 = tg.const 0 : tensor<i32>
  %i1 = tg.const 1 : tensor<i32>
  %f1 = tg.const 1.0 : tensor<f32>
  %zero = tg.const 0.0 : tensor<f32>
  %minus_zero = tg.const -0.0 : tensor<f32>
  %0 = tg.add %i0, %i : (tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = tg.mul %i, %i1 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %2 = tg.idiv %i, %i1 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %3 = tg.or %i, %i0 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %4 = tg.mul %f1, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = tg.add %x, %minus_zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %6 = tg.sub %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %7 = tg.div %x, %f1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -0 + 0 is +0, -0 - -0 is +0, and x * 0 may be NaN or -0: none of these is known.
// CHECK-LABEL: @float_zeros
// CHECK: tg.add %x, %zero
// CHECK: tg.sub %x, %minus_zero
// CHECK: tg.mul %x, %zero
// CHECK: tg.cmpne %x, %x
func.func @float_zeros(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<i1>) {
  %zero = tg.const 0.0 : tensor<f32>
  %minus_zero = tg.const -0.0 : tensor<f32>
  %0 = tg.add %x, %zero : tensor<f32>
  %1 = tg.sub %x, %minus_zero : tensor<f32>
  %2 = tg.mul %x, %zero : tensor<f32>
  %3 = tg.cmpne %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i1>
}

// CHECK-LABEL: @absorbing
// CHECK-DAG: %[[ZERO:.*]] = tg.const 0 : tensor<i32>
// CHECK-DAG: %[[WIDE:.*]] = tg.expand %{{.*}} [4] : tensor<1xi32> -> tensor<4xi32>
// CHECK: func.return %[[WIDE]], %{{.*}}, %{{.*}} : tensor<4xi32>, tensor<i32>, tensor<i32>
func.func @absorbing(%i: tensor<4xi32>, %j: tensor<i32>) -> (tensor<4xi32>, tensor<i32>, tensor<i32>) {
  %c0 = tg.const 0 : tensor<i32>
  %c1 = tg.const 1 : tensor<i32>
  %0 = tg.mul %i, %c0 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = tg.mod %j, %c1 : tensor<i32>
  %2 = tg.idiv %j, %c0 : tensor<i32>
  return %0, %1, %2 : tensor<4xi32>, tensor<i32>, tensor<i32>
}

// An invalid cell times 0 is an invalid cell.
// CHECK-LABEL: @absorbing_invalid
// CHECK: tg.mul %{{.*}}, %c0
func.func @absorbing_invalid(%i: tensor<4xi32>) -> tensor<6xi32> {
  %c0 = tg.const 0 : tensor<i32>
  %0 = tg.pad %i at [1] to [6] : tensor<4xi32> -> tensor<6xi32>
  %1 = tg.mul %0, %c0 : (tensor<6xi32>, tensor<i32>) -> tensor<6xi32>
  return %1 : tensor<6xi32>
}

// CHECK-LABEL: @same
// CHECK-NEXT: %0 = tg.const false : tensor<i1>
// CHECK-NEXT: %1 = tg.const true : tensor<i1>
// CHECK-NEXT: func.return %x, %0, %1, %x, %p
func.func @same(%x: tensor<f32>, %p: tensor<i1>) -> (tensor<f32>, tensor<i1>, tensor<i1>, tensor<f32>, tensor<i1>) {
  %0 = tg.max %x, %x : tensor<f32>
  %1 = tg.cmplt %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %2 = tg.cmpge %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %3 = tg.neg %x : tensor<f32>
  %4 = tg.neg %3 : tensor<f32>
  %5 = tg.not %p : tensor<i1>
  %6 = tg.not %5 : tensor<i1>
  return %0, %1, %2, %4, %6 : tensor<f32>, tensor<i1>, tensor<i1>, tensor<f32>, tensor<i1>
}

// CHECK-LABEL: @where
// CHECK-NEXT: %0 = tg.where %p, %y, %x
// CHECK-NEXT: func.return %x, %y, %x, %0, %p
func.func @where(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i1>) {
  %true = tg.const true : tensor<i1>
  %false = tg.const false : tensor<i1>
  %0 = tg.where %true, %x, %y : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = tg.where %false, %x, %y : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = tg.where %p, %x, %x : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = tg.not %p : tensor<i1>
  %4 = tg.where %3, %x, %y : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %5 = tg.where %p, %true, %false : tensor<i1>
  return %0, %1, %2, %4, %5 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<i1>
}

// A branch that is not taken may be invalid, but a condition may not.
// CHECK-LABEL: @where_invalid
// CHECK-NEXT: %0 = tg.pad %p at [0] to [6]
// CHECK-NEXT: %1 = tg.where %0, %y, %y
// CHECK-NEXT: func.return %y, %1
func.func @where_invalid(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %true = tg.const true : tensor<i1>
  %0 = tg.pad %x at [0] to [6] : tensor<4xf32> -> tensor<6xf32>
  %1 = tg.where %true, %y, %0 : (tensor<i1>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %2 = tg.pad %p at [0] to [6] : tensor<4xi1> -> tensor<6xi1>
  %3 = tg.where %2, %y, %y : (tensor<6xi1>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %1, %3 : tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: @negated_comparisons
// CHECK-NEXT: %0 = tg.cmpge %x, %y
// CHECK-NEXT: %1 = tg.cmpeq %x, %y
// CHECK-NEXT: func.return %0, %1
func.func @negated_comparisons(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<i1>, tensor<i1>) {
  %true = tg.const true : tensor<i1>
  %0 = tg.cmplt %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %1 = tg.cmpne %0, %true : tensor<i1>
  %2 = tg.cmpne %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %3 = tg.not %2 : tensor<i1>
  return %1, %3 : tensor<i1>, tensor<i1>
}

// CHECK-LABEL: @casts
// CHECK-NEXT: %0 = tg.cast %i to i8
// CHECK-NEXT: %1 = tg.cast %i to f64
// CHECK-NEXT: %2 = tg.cast %h to i32
// CHECK-NEXT: func.return %i, %0, %1, %h, %2
func.func @casts(%i: tensor<i16>, %h: tensor<f16>) -> (tensor<i16>, tensor<i8>, tensor<f64>, tensor<f16>, tensor<i32>) {
  %0 = tg.cast %i to i32 : tensor<i16> -> tensor<i32>
  %1 = tg.cast %0 to i16 : tensor<i32> -> tensor<i16>
  %2 = tg.cast %0 to i8 : tensor<i32> -> tensor<i8>
  %3 = tg.cast %i to f32 : tensor<i16> -> tensor<f32>
  %4 = tg.cast %3 to f64 : tensor<f32> -> tensor<f64>
  %5 = tg.cast %h to f32 : tensor<f16> -> tensor<f32>
  %6 = tg.cast %5 to f16 : tensor<f32> -> tensor<f16>
  %7 = tg.cast %5 to i32 : tensor<f32> -> tensor<i32>
  return %1, %2, %4, %6, %7 : tensor<i16>, tensor<i8>, tensor<f64>, tensor<f16>, tensor<i32>
}

// i32 does not fit into f32, f16 not into bf16, and a bool is not the low bit.
// CHECK-LABEL: @lossy_casts
// CHECK-COUNT-6: tg.cast
func.func @lossy_casts(%i: tensor<i32>, %h: tensor<f16>) -> (tensor<i32>, tensor<f16>, tensor<i32>) {
  %0 = tg.cast %i to f32 : tensor<i32> -> tensor<f32>
  %1 = tg.cast %0 to i32 : tensor<f32> -> tensor<i32>
  %2 = tg.cast %h to bf16 : tensor<f16> -> tensor<bf16>
  %3 = tg.cast %2 to f16 : tensor<bf16> -> tensor<f16>
  %4 = tg.cast %i to i1 : tensor<i32> -> tensor<i1>
  %5 = tg.cast %4 to i32 : tensor<i1> -> tensor<i32>
  return %1, %3, %5 : tensor<i32>, tensor<f16>, tensor<i32>
}

// An operand in memory is read: it is not the value.
// CHECK-LABEL: @memory
// CHECK: tg.cast %x to f32 : tensor<f32, #tg.place<"CPU", global>> -> tensor<f32, #tg.place<"CPU">>
// CHECK: tg.mul %x, %c1
func.func @memory(%x: tensor<f32, #tg.place<"CPU", global>>) -> (tensor<f32, #tg.place<"CPU">>, tensor<f32, #tg.place<"CPU">>) {
  %c1 = tg.const 1.0 : tensor<f32>
  %0 = tg.cast %x to f32 : tensor<f32, #tg.place<"CPU", global>> -> tensor<f32, #tg.place<"CPU">>
  %1 = tg.mul %x, %c1 : (tensor<f32, #tg.place<"CPU", global>>, tensor<f32>) -> tensor<f32, #tg.place<"CPU">>
  return %0, %1 : tensor<f32, #tg.place<"CPU">>, tensor<f32, #tg.place<"CPU">>
}

// An END needs the range that i * 0 depends on.
// CHECK-LABEL: tg.kernel @loops
// CHECK: tg.mul %i, %c0
// CHECK: tg.end
tg.kernel @loops {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %c0 = tg.const 0 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %v = tg.const 1.0 : tensor<f32>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %0 = tg.mul %i, %c0 : tensor<index>
  %1 = tg.index %o[%0] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %2 = tg.store %1, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %3 = tg.end %2 over %i : !tg.void
  %4 = tg.sink %3 : !tg.void
}

// An END needs the range of a branch that is never taken, and of a movement of a constant.
// CHECK-LABEL: tg.kernel @dropped
// CHECK: %[[NEVER:.*]] = tg.where %true, %x, %i
// CHECK: tg.where %p, %{{.*}}, %x
// CHECK: tg.add %{{.*}}, %part
// CHECK: tg.end
tg.kernel @dropped {
  %o = tg.param 0 : tensor<4xindex, #tg.place<global>>
  %x = tg.param 1 min 0 max 3 : tensor<index>
  %c0 = tg.const 0 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %true = tg.const true : tensor<i1>
  %p = tg.cmplt %x, %c4 : (tensor<index>, tensor<index>) -> tensor<i1>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %j = tg.range 1 loop to %c4 : tensor<index>
  %k = tg.range 2 loop to %c4 : tensor<index>
  %0 = tg.where %true, %x, %i : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %1 = tg.where %p, %0, %j : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %2 = tg.where %p, %1, %x : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %row = tg.reshape %c0 [1] : tensor<index> -> tensor<1xindex>
  %zeros = tg.expand %row [4] : tensor<1xindex> -> tensor<4xindex>
  %zero = tg.shrink %zeros at [%k] to [1] : tensor<4xindex> -> tensor<1xindex>
  %part = tg.reshape %zero [] : tensor<1xindex> -> tensor<index>
  %3 = tg.add %2, %part : tensor<index>
  %4 = tg.index %o[%3] : (tensor<4xindex, #tg.place<global>>, tensor<index>) -> tensor<index, #tg.place<global>>
  %5 = tg.store %4, %x : tensor<index, #tg.place<global>>, tensor<index>
  %6 = tg.end %5 over %k, %j, %i : !tg.void
  %7 = tg.sink %6 : !tg.void
}

// Numbers 1 and 0 are no bools: the condition is none of the results, whatever is known of it.

// CHECK-LABEL: @where_of_numbers
// CHECK: [[WHERE:%.*]] = tg.where
// CHECK: func.return [[WHERE]]
func.func @where_of_numbers() -> tensor<4xf32> {
  %0 = tg.const true : tensor<i1>
  %1 = tg.reshape %0 [1] : tensor<i1> -> tensor<1xi1>
  %p = tg.expand %1 [4] : tensor<1xi1> -> tensor<4xi1>
  %a = tg.const 1.0 : tensor<f32>
  %b = tg.const 0.0 : tensor<f32>
  %2 = tg.where %p, %a, %b : (tensor<4xi1>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}

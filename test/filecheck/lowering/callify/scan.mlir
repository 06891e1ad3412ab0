// RUN: tg-opt %s -p tg-callify | filecheck %s

// A state is in a stack of two rows: a step reads one and writes the other, in turn. What is stacked
// and no state is written to the rows of its result.

func.func @two_rows(%h: tensor<4xf32>, %xs: tensor<8x4xf32>, %w: tensor<f32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %r = tg.scan(%h, %xs, %w) states 1 sequences 1 steps 8 {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %c = tg.param 2 : tensor<f32>
    %p = tg.mul %s, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %n = tg.add %p, %x : tensor<4xf32>
    %t = tg.tuple %n, %p : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  } : (tensor<4xf32>, tensor<8x4xf32>, tensor<f32>) -> !tg.tuple<tensor<4xf32>, tensor<8x4xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<4xf32>, tensor<8x4xf32>> -> tensor<4xf32>
  %1 = tg.gettuple %r 1 : !tg.tuple<tensor<4xf32>, tensor<8x4xf32>> -> tensor<8x4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<8x4xf32>
}

// As before, backwards; the states before the steps are a result. There is a row for each, and one
// for the last: the steps go from row 8 to row 0.

func.func @a_row_for_each_step(%h: tensor<4xf32>, %xs: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %r = tg.scan(%h, %xs) states 1 sequences 1 steps 8 reverse {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %n = tg.add %s, %x : tensor<4xf32>
    %t = tg.tuple %n, %s : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  } : (tensor<4xf32>, tensor<8x4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<8x4xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<4xf32>, tensor<8x4xf32>> -> tensor<4xf32>
  %1 = tg.gettuple %r 1 : !tg.tuple<tensor<4xf32>, tensor<8x4xf32>> -> tensor<8x4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<8x4xf32>
}

// The states after the steps: rows 1 to 8 of nine.

func.func @after_each_step(%h: tensor<4xf32>, %xs: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %r = tg.scan(%h, %xs) states 1 sequences 1 steps 8 {
    %s = tg.param 0 : tensor<4xf32>
    %x = tg.param 1 : tensor<4xf32>
    %n = tg.mul %s, %x : tensor<4xf32>
    %t = tg.tuple %n, %n : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  } : (tensor<4xf32>, tensor<8x4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<8x4xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<4xf32>, tensor<8x4xf32>> -> tensor<4xf32>
  %1 = tg.gettuple %r 1 : !tg.tuple<tensor<4xf32>, tensor<8x4xf32>> -> tensor<8x4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<8x4xf32>
}

// `while` is a loop of one iteration or none within that of all steps; its bound is the first state.
// The number of steps that were made says which row is read, and which has the last state.

func.func @while(%go: tensor<i1>, %h: tensor<i32>) -> tensor<i32> {
  %r = tg.scan(%go, %h) states 2 sequences 0 steps 100 while {
    %f = tg.param 0 : tensor<i1>
    %s = tg.param 1 : tensor<i32>
    %n = tg.add %s, %s : tensor<i32>
    %c = tg.const 1000 : tensor<i32>
    %b = tg.cmplt %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = tg.tuple %b, %n : (tensor<i1>, tensor<i32>) -> !tg.tuple<tensor<i1>, tensor<i32>>
  } : (tensor<i1>, tensor<i32>) -> !tg.tuple<tensor<i1>, tensor<i32>>
  %0 = tg.gettuple %r 1 : !tg.tuple<tensor<i1>, tensor<i32>> -> tensor<i32>
  func.return %0 : tensor<i32>
}

// Many steps of a `while` are a nest of loops that are entered while the first state is true. What is
// stacked is zeros before.

func.func @nest(%go: tensor<i1>) -> tensor<i1> {
  %r = tg.scan(%go) states 1 sequences 0 steps 100000 while {
    %f = tg.param 0 : tensor<i1>
    %n = tg.not %f : tensor<i1>
    %t = tg.tuple %n : tensor<i1> -> !tg.tuple<tensor<i1>>
  } : tensor<i1> -> !tg.tuple<tensor<i1>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<i1>> -> tensor<i1>
  func.return %0 : tensor<i1>
}

func.func @choice(%go: tensor<i1>, %x: tensor<4xf32>) -> tensor<1x4xf32> {
  %r = tg.scan(%go, %x) states 1 sequences 0 steps 1 while {
    %f = tg.param 0 : tensor<i1>
    %c = tg.param 1 : tensor<4xf32>
    %n = tg.const false : tensor<i1>
    %e = tg.exp2 %c : tensor<4xf32>
    %t = tg.tuple %n, %e : (tensor<i1>, tensor<4xf32>) -> !tg.tuple<tensor<i1>, tensor<4xf32>>
  } : (tensor<i1>, tensor<4xf32>) -> !tg.tuple<tensor<i1>, tensor<1x4xf32>>
  %0 = tg.gettuple %r 1 : !tg.tuple<tensor<i1>, tensor<1x4xf32>> -> tensor<1x4xf32>
  func.return %0 : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @choice
// CHECK: %[[ZERO:.*]] = tg.const 0.000000e+00
// CHECK: tg.expand {{%.*}} [1, 4]
// CHECK: %[[FILL:.*]] = tg.store %out0,
// CHECK: %[[ROWS:.*]] = tg.after %out0, %[[FILL]]
// CHECK: tg.call @choice_scan_{{.*}}({{%.*}}, %x, %[[ROWS]], {{%.*}})

// The kernel takes the sizes: the number of steps is the bound of its loop, rows have the extents of the
// step's PARAMs, and the state after the last step is in the row of the last bit of their number.

func.func @symbolic(%n: tensor<index> {tg.min = 0 : index}, %b: tensor<index>, %h: tensor<?xf32> {tg.dims = array<i64: 1>}, %xs: tensor<?x?xf32> {tg.dims = array<i64: 0, 1>}) -> (tensor<?xf32>, tensor<?x?xf32>) {
  %r = tg.scan(%h, %xs, %n, %b) states 1 sequences 1 steps_at 2 {
    %k = tg.param 2 : tensor<index>
    %m = tg.param 3 "b" : tensor<index>
    %s = tg.param 0 (%m) : tensor<?xf32>
    %x = tg.param 1 (%m) : tensor<?xf32>
    %a = tg.add %s, %x : tensor<?xf32>
    %o = tg.mul %s, %x : tensor<?xf32>
    %t = tg.tuple %a, %o : (tensor<?xf32>, tensor<?xf32>) -> !tg.tuple<tensor<?xf32>, tensor<?xf32>>
  } : (tensor<?xf32>, tensor<?x?xf32>, tensor<index>, tensor<index>) -> !tg.tuple<tensor<?xf32>, tensor<?x?xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<?xf32>, tensor<?x?xf32>> -> tensor<?xf32>
  %1 = tg.gettuple %r 1 : !tg.tuple<tensor<?xf32>, tensor<?x?xf32>> -> tensor<?x?xf32>
  func.return %0, %1 : tensor<?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @symbolic
// CHECK: %[[STACK:.*]] = tg.buffer 0(%b) : tensor<2x?xf32,
// CHECK: tg.call @symbolic_scan_6({{%.*}}, %xs, %n, %b, %out1)
// CHECK: %[[LAST:.*]] = tg.and %n, {{%.*}}
// CHECK: tg.shrink {{%.*}} at [%[[LAST]], 0] to [1, %b]

// A SCAN in a step is a CALL in the function of that step; equal bodies are one function.

func.func @nested_and_equal(%h: tensor<f32>, %xs: tensor<5x3xf32>) -> (tensor<f32>, tensor<f32>) {
  %r = tg.scan(%h, %xs) states 1 sequences 1 steps 5 {
    %s = tg.param 0 : tensor<f32>
    %x = tg.param 1 : tensor<3xf32>
    %i = tg.scan(%s, %x) states 1 sequences 1 steps 3 {
      %a = tg.param 0 : tensor<f32>
      %b = tg.param 1 : tensor<f32>
      %m = tg.mul %a, %b : tensor<f32>
      %u = tg.tuple %m : tensor<f32> -> !tg.tuple<tensor<f32>>
    } : (tensor<f32>, tensor<3xf32>) -> !tg.tuple<tensor<f32>>
    %n = tg.gettuple %i 0 : !tg.tuple<tensor<f32>> -> tensor<f32>
    %t = tg.tuple %n : tensor<f32> -> !tg.tuple<tensor<f32>>
  } : (tensor<f32>, tensor<5x3xf32>) -> !tg.tuple<tensor<f32>>
  %y = tg.const 2.0 : tensor<f32>
  %z = tg.reshape %y [1] : tensor<f32> -> tensor<1xf32>
  %e = tg.expand %z [7] : tensor<1xf32> -> tensor<7xf32>
  %q = tg.scan(%h, %e) states 1 sequences 1 steps 7 {
    %a = tg.param 0 : tensor<f32>
    %b = tg.param 1 : tensor<f32>
    %m = tg.mul %a, %b : tensor<f32>
    %u = tg.tuple %m : tensor<f32> -> !tg.tuple<tensor<f32>>
  } : (tensor<f32>, tensor<7xf32>) -> !tg.tuple<tensor<f32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<f32>> -> tensor<f32>
  %1 = tg.gettuple %q 0 : !tg.tuple<tensor<f32>> -> tensor<f32>
  func.return %0, %1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: tg.kernel @two_rows_scan_0
// CHECK: %[[V0:.*]] = tg.range 0 loop to {{%.*}}
// CHECK: %[[V1:.*]] = tg.and %[[V0]], {{%.*}}
// CHECK: %[[V2:.*]] = tg.sub {{%.*}}, %[[V1]]
// CHECK: tg.shrink {{%.*}} at [%[[V1]], 0] to [1, 4]
// CHECK: tg.shrink {{%.*}} at [%[[V2]], 0] to [1, 4]
// CHECK: tg.shrink {{%.*}} at [%[[V0]], 0] to [1, 4]
// CHECK: tg.shrink {{%.*}} at [%[[V0]], 0] to [1, 4]
// CHECK: %[[V3:.*]] = tg.call @two_rows_function_0({{%.*}}, {{%.*}}, {{%.*}}, {{%.*}}, {{%.*}})
// CHECK: tg.end %[[V3]] over %[[V0]]

// CHECK-LABEL: tg.kernel @a_row_for_each_step_scan_1
// CHECK: %[[V0:.*]] = tg.range 0 loop to {{%.*}}
// CHECK: %[[V1:.*]] = tg.and %[[V0]], {{%.*}}
// CHECK: tg.sub {{%.*}}, %[[V1]]
// CHECK: %[[V2:.*]] = tg.sub {{%.*}}, %[[V0]]
// CHECK: tg.shrink {{%.*}} at [{{%.*}}, 0] to [1, 4]
// CHECK: tg.shrink {{%.*}} at [%[[V2]], 0] to [1, 4]
// CHECK: tg.shrink {{%.*}} at [%[[V2]], 0] to [1, 4]
// CHECK: %[[V3:.*]] = tg.call @a_row_for_each_step_function_1({{%.*}}, {{%.*}}, {{%.*}})
// CHECK: tg.end %[[V3]] over %[[V0]]

// CHECK-LABEL: tg.kernel @after_each_step_scan_2
// CHECK: %[[V0:.*]] = tg.range 0 loop to {{%.*}}
// CHECK: %[[V1:.*]] = tg.and %[[V0]], {{%.*}}
// CHECK: tg.sub {{%.*}}, %[[V1]]
// CHECK: tg.shrink {{%.*}} at [%[[V0]], 0] to [1, 4]
// CHECK: tg.shrink {{%.*}} at [{{%.*}}, 0] to [1, 4]
// CHECK: tg.shrink {{%.*}} at [%[[V0]], 0] to [1, 4]
// CHECK: %[[V2:.*]] = tg.call @after_each_step_function_2({{%.*}}, {{%.*}}, {{%.*}})
// CHECK: tg.end %[[V2]] over %[[V0]]

// CHECK-LABEL: tg.kernel @while_scan_3
// CHECK: %[[V0:.*]] = tg.range 0 loop to {{%.*}}
// CHECK: %[[V1:.*]] = tg.index {{%.*}}[{{%.*}}]
// CHECK: tg.load %[[V1]]
// CHECK: %[[V2:.*]] = tg.and {{%.*}}, {{%.*}}
// CHECK: %[[V4:.*]] = tg.index {{%.*}}[%[[V2]]]
// CHECK: tg.load %[[V4]]
// CHECK: %[[V5:.*]] = tg.range 1 loop to {{%.*}}
// CHECK: %[[V3:.*]] = tg.sub {{%.*}}, %[[V2]]
// CHECK: tg.shrink {{%.*}} at [%[[V2]]] to [1]
// CHECK: tg.shrink {{%.*}} at [%[[V3]]] to [1]
// CHECK: tg.shrink {{%.*}} at [%[[V2]]] to [1]
// CHECK: tg.shrink {{%.*}} at [%[[V3]]] to [1]
// CHECK: tg.call @while_function_3({{%.*}}, {{%.*}}, {{%.*}}, {{%.*}})
// CHECK: %[[V6:.*]] = tg.index {{%.*}}[{{%.*}}]
// CHECK: %[[V7:.*]] = tg.store %[[V6]], {{%.*}}
// CHECK: tg.end %[[V7]] over %[[V5]], %[[V0]]

// CHECK-LABEL: tg.kernel @nest_scan_4
// CHECK: %[[K:.*]] = tg.const 256
// CHECK: %[[I:.*]] = tg.range 0 loop to %[[K]]
// CHECK: %[[FLAG:.*]] = tg.cast {{%.*}} to index : tensor<i1, {{.*}}
// CHECK: %[[BOUND:.*]] = tg.mul %[[FLAG]],
// CHECK: %[[J:.*]] = tg.range 1 loop to %[[BOUND]]
// CHECK: %[[INNER:.*]] = tg.mul
// CHECK: %[[L:.*]] = tg.range 2 loop to %[[INNER]]
// CHECK: %[[STEPS:.*]] = tg.const 100000
// CHECK: tg.cmplt {{%.*}}, %[[STEPS]]
// CHECK: %[[ONE:.*]] = tg.range 3 loop
// CHECK: tg.end {{%.*}} over %[[ONE]], %[[L]], %[[J]], %[[I]]

// CHECK-LABEL: tg.kernel @symbolic_scan_6
// CHECK: %[[N:.*]] = tg.param 2 : tensor<index>
// CHECK: %[[B:.*]] = tg.param 3 "b" : tensor<index>
// CHECK: tg.param 0(%[[B]]) : tensor<2x?xf32
// CHECK: %[[XS:.*]] = tg.param 1(%[[N]], %[[B]]) : tensor<?x?xf32
// CHECK: tg.param 4(%[[N]], %[[B]]) : tensor<?x?xf32
// CHECK: %[[I:.*]] = tg.range 0 loop to %[[N]]
// CHECK: tg.shrink %[[XS]] at [%[[I]], 0] to [1, %[[B]]]
// CHECK: tg.call @symbolic_function_6({{%.*}}, {{%.*}}, %[[N]], %[[B]], {{%.*}}, {{%.*}})

// CHECK-LABEL: tg.kernel @nested_and_equal_function_7_scan_7
// CHECK: %[[V0:.*]] = tg.range 0 loop to {{%.*}}
// CHECK: %[[V1:.*]] = tg.and %[[V0]], {{%.*}}
// CHECK: %[[V2:.*]] = tg.sub {{%.*}}, %[[V1]]
// CHECK: tg.shrink {{%.*}} at [%[[V1]]] to [1]
// CHECK: tg.shrink {{%.*}} at [%[[V2]]] to [1]
// CHECK: tg.shrink {{%.*}} at [%[[V0]]] to [1]
// CHECK: %[[V3:.*]] = tg.call @nested_and_equal_function_7_function_7({{%.*}}, {{%.*}}, {{%.*}})
// CHECK: tg.end %[[V3]] over %[[V0]]

// CHECK-LABEL: tg.kernel @nested_and_equal_scan_8
// CHECK: %[[V0:.*]] = tg.range 0 loop to {{%.*}}
// CHECK: %[[V1:.*]] = tg.and %[[V0]], {{%.*}}
// CHECK: %[[V2:.*]] = tg.sub {{%.*}}, %[[V1]]
// CHECK: tg.shrink {{%.*}} at [%[[V1]]] to [1]
// CHECK: tg.shrink {{%.*}} at [%[[V2]]] to [1]
// CHECK: tg.shrink {{%.*}} at [%[[V0]], 0] to [1, 3]
// CHECK: %[[V3:.*]] = tg.call @nested_and_equal_function_7({{%.*}}, {{%.*}}, {{%.*}})
// CHECK: tg.end %[[V3]] over %[[V0]]

// CHECK-LABEL: tg.kernel @nested_and_equal_scan_9
// CHECK: %[[V0:.*]] = tg.range 0 loop to {{%.*}}
// CHECK: %[[V1:.*]] = tg.and %[[V0]], {{%.*}}
// CHECK: %[[V2:.*]] = tg.sub {{%.*}}, %[[V1]]
// CHECK: tg.shrink {{%.*}} at [%[[V1]]] to [1]
// CHECK: tg.shrink {{%.*}} at [%[[V2]]] to [1]
// CHECK: tg.shrink {{%.*}} at [%[[V0]]] to [1]
// CHECK: %[[V3:.*]] = tg.call @nested_and_equal_function_7_function_7({{%.*}}, {{%.*}}, {{%.*}})
// CHECK: tg.end %[[V3]] over %[[V0]]

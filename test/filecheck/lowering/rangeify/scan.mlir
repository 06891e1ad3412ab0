// RUN: tg-opt %s -p tg-callify,tg-rangeify | filecheck %s

// The CALLs of kernels take the place of that of a step's function. The memory between them is an
// argument of the kernel that calls, for which its caller has a BUFFER. A CALL that fills it alone, from
// what does not change, is in no loop once the ops are in order: it waits for no RANGE.

func.func @main(%h: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = tg.scan(%h, %w) states 1 sequences 0 steps 8 {
    %s = tg.param 0 : tensor<16x16xf32>
    %c = tg.param 1 : tensor<16x16xf32>
    %e = tg.exp2 %c : tensor<16x16xf32>
    %k = tg.contiguous %e : tensor<16x16xf32>
    %m = tg.mul %s, %k : tensor<16x16xf32>
    %a = tg.reduce add %m [1] : tensor<16x16xf32> -> tensor<16x1xf32>
    %b = tg.expand %a [16, 16] : tensor<16x1xf32> -> tensor<16x16xf32>
    %n = tg.sub %s, %b : tensor<16x16xf32>
    %t = tg.tuple %n : tensor<16x16xf32> -> !tg.tuple<tensor<16x16xf32>>
  } : (tensor<16x16xf32>, tensor<16x16xf32>) -> !tg.tuple<tensor<16x16xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<16x16xf32>> -> tensor<16x16xf32>
  func.return %0 : tensor<16x16xf32>
}

// CHECK-LABEL: func.func @main
// CHECK: %[[STACK:.*]] = tg.buffer 0 : tensor<2x16x16xf32,
// CHECK: %[[BETWEEN:.*]] = tg.buffer 1 : tensor<16x16xf32,
// CHECK: %[[FIRST:.*]] = tg.after %[[STACK]],
// CHECK: tg.call @main_scan_0(%[[FIRST]], %w, %[[BETWEEN]])

// CHECK-LABEL: tg.kernel @main_scan_0
// CHECK: %[[K:.*]] = tg.param 2
// CHECK: %[[S:.*]] = tg.param 0
// CHECK: %[[W:.*]] = tg.param 1
// CHECK: %[[I:.*]] = tg.range 0 loop
// CHECK: %[[EVEN:.*]] = tg.mod %[[I]],
// CHECK: %[[ODD:.*]] = tg.sub {{%.*}}, %[[EVEN]]
// CHECK: %[[NOW:.*]] = tg.after %[[S]], %[[I]]
// CHECK: tg.shrink %[[NOW]] at [%[[EVEN]], 0, 0] to [1, 16, 16]
// CHECK: tg.shrink %[[NOW]] at [%[[ODD]], 0, 0] to [1, 16, 16]
// CHECK: %[[FILL:.*]] = tg.call @main_function_0_0(%[[K]], %[[W]])
// CHECK: %[[FULL:.*]] = tg.after %[[K]], %[[FILL]]
// CHECK: tg.call @main_function_0_1({{%.*}}, {{%.*}}, %[[FULL]])

// Memory that several CALLs write, here the stack of the inner SCAN, is filled in each iteration.

func.func @refilled(%h: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %r = tg.scan(%h, %w) states 1 sequences 0 steps 8 {
    %s = tg.param 0 : tensor<f32>
    %c = tg.param 1 : tensor<f32>
    %i = tg.scan(%c, %s) states 1 sequences 0 steps 3 {
      %a = tg.param 0 : tensor<f32>
      %b = tg.param 1 : tensor<f32>
      %m = tg.mul %a, %b : tensor<f32>
      %u = tg.tuple %m : tensor<f32> -> !tg.tuple<tensor<f32>>
    } : (tensor<f32>, tensor<f32>) -> !tg.tuple<tensor<f32>>
    %n = tg.gettuple %i 0 : !tg.tuple<tensor<f32>> -> tensor<f32>
    %t = tg.tuple %n : tensor<f32> -> !tg.tuple<tensor<f32>>
  } : (tensor<f32>, tensor<f32>) -> !tg.tuple<tensor<f32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<f32>> -> tensor<f32>
  func.return %0 : tensor<f32>
}

// CHECK-LABEL: tg.kernel @refilled_scan_
// CHECK: %[[STACK:.*]] = tg.param 2 : tensor<2xf32,
// CHECK: %[[I:.*]] = tg.range 0 loop
// CHECK: %[[NOW:.*]] = tg.after %[[STACK]], %[[I]]
// CHECK: %[[FILL:.*]] = tg.call @refilled_function_{{.*}}(%[[NOW]], {{%.*}})
// CHECK: %[[FULL:.*]] = tg.after %[[NOW]], %[[FILL]]
// CHECK: tg.call @refilled_function_{{.*}}_scan_{{.*}}(%[[FULL]],

// A step whose results have no elements calls no kernel, so there is no loop.

func.func @empty(%h: tensor<0x2xf32>, %w: tensor<2xf32>) -> tensor<0x2xf32> {
  %r = tg.scan(%h, %w) states 1 sequences 0 steps 8 {
    %s = tg.param 0 : tensor<0x2xf32>
    %c = tg.param 1 : tensor<2xf32>
    %n = tg.mul %s, %c : (tensor<0x2xf32>, tensor<2xf32>) -> tensor<0x2xf32>
    %t = tg.tuple %n : tensor<0x2xf32> -> !tg.tuple<tensor<0x2xf32>>
  } : (tensor<0x2xf32>, tensor<2xf32>) -> !tg.tuple<tensor<0x2xf32>>
  %0 = tg.gettuple %r 0 : !tg.tuple<tensor<0x2xf32>> -> tensor<0x2xf32>
  func.return %0 : tensor<0x2xf32>
}

// CHECK-LABEL: tg.kernel @empty_scan
// CHECK-NOT:     tg.range
// CHECK:         %{{.*}} = tg.sink{{$}}

// RUN: tg-opt %s --split-input-file --pass-pipeline='builtin.module(tg-callify,tg-verify{level=function})' | filecheck %s
// RUN: tg-opt %s --split-input-file --pass-pipeline='builtin.module(tg-callify,tg-rangeify)' | filecheck %s --check-prefix=KERNELS

// FUNCTIONs that ask for it are called: bodies that are the same are one function, an argument that
// is given twice is one, a computed argument is stored in a buffer first, and what is returned is
// written where it belongs.

// CHECK-LABEL: func.func @same
// CHECK-SAME:    (%a: {{.*}}, %b: {{.*}}, %out0: {{.*}}, %out1: {{.*}})
// CHECK-DAG:     %[[M:.*]] = tg.buffer 0
// CHECK-DAG:     %[[S:.*]] = tg.buffer 1
// CHECK:         %[[FIRST:.*]] = tg.call @same_function_0(%a, %b, %[[M]], %[[S]])
// CHECK:         %[[M1:.*]] = tg.after %[[M]], %[[FIRST]]
// CHECK:         %[[S1:.*]] = tg.after %[[S]], %[[FIRST]]
// CHECK:         %[[N:.*]] = tg.neg %[[S1]]
// CHECK:         %[[T:.*]] = tg.buffer 2
// CHECK:         %[[STORE:.*]] = tg.store %[[T]], %[[N]]
// CHECK:         %[[T1:.*]] = tg.after %[[T]], %[[STORE]]
// CHECK:         %[[SECOND:.*]] = tg.call @same_function_0(%[[T1]], %[[M1]], %out0, %out1)
// CHECK-NEXT:    tg.sink %[[SECOND]]
// CHECK:       func.func private @same_function_0(%p: {{.*}}, %q: {{.*}}, %out0: {{.*}} {tg.output}, %out1: {{.*}} {tg.output})
// CHECK-NEXT:    %[[MUL:.*]] = tg.mul %p, %q
// CHECK-NEXT:    %[[ADD:.*]] = tg.add %[[MUL]], %p
// CHECK-NEXT:    tg.store %out0, %[[MUL]]
// CHECK-NEXT:    tg.store %out1, %[[ADD]]
// CHECK-NOT:   func.func

// The kernels of a function are called by whoever calls it.

// KERNELS:       tg.kernel @same_0
// KERNELS-NOT:   tg.kernel
// KERNELS-LABEL: func.func @same(
// KERNELS:         %[[M:.*]] = tg.call @same_function_0_0(%0, %a, %b)
// KERNELS:         %[[M1:.*]] = tg.after %0, %[[M]]
// KERNELS:         %[[S:.*]] = tg.call @same_function_0_1(%1, %a, %b)
// KERNELS:         %[[S1:.*]] = tg.after %1, %[[S]]
// KERNELS:         %[[N:.*]] = tg.call @same_0(%2, %[[S1]])
// KERNELS:         %[[N1:.*]] = tg.after %2, %[[N]]
// KERNELS:         tg.call @same_function_0_0(%out0, %[[N1]], %[[M1]])
// KERNELS:         tg.call @same_function_0_1(%out1, %[[N1]], %[[M1]])
// KERNELS-NOT:   func.func
// KERNELS:       tg.kernel @same_function_0_0
// KERNELS:       tg.kernel @same_function_0_1
func.func @same(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %f = tg.function(%a, %b, %a) attributes {tg.outline} {
    %p = tg.param 0 : tensor<4xf32>
    %q = tg.param 1 : tensor<4xf32>
    %r = tg.param 2 : tensor<4xf32>
    %m = tg.mul %p, %q : tensor<4xf32>
    %s = tg.add %m, %r : tensor<4xf32>
    %t = tg.tuple %m, %s : tensor<4xf32>, tensor<4xf32> -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  } : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  %m = tg.gettuple %f 0 : !tg.tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  %s = tg.gettuple %f 1 : !tg.tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  %n = tg.neg %s : tensor<4xf32>
  %g = tg.function(%n, %m, %n) attributes {tg.outline = true} {
    %p = tg.param 0 : tensor<4xf32>
    %q = tg.param 1 : tensor<4xf32>
    %r = tg.param 2 : tensor<4xf32>
    %y = tg.mul %p, %q : tensor<4xf32>
    %z = tg.add %y, %r : tensor<4xf32>
    %t = tg.tuple %y, %z : tensor<4xf32>, tensor<4xf32> -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  } : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>, tensor<4xf32>>
  %y = tg.gettuple %g 0 : !tg.tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  %z = tg.gettuple %g 1 : !tg.tuple<tensor<4xf32>, tensor<4xf32>> -> tensor<4xf32>
  func.return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// A FUNCTION in one that is outlined is outlined by itself; `tg.outline = false` asks for substitution.

// CHECK-LABEL: func.func @nested
// CHECK:         tg.call @nested_function_0(%x, %out0)
// CHECK:       func.func private @nested_function_0_function_0(%q: {{.*}}, %out0: {{.*}})
// CHECK:         tg.exp2 %q
// CHECK:       func.func private @nested_function_0(%p: {{.*}}, %out0: {{.*}})
// CHECK:         tg.call @nested_function_0_function_0
// CHECK:         tg.neg

// KERNELS-LABEL: func.func @nested
// KERNELS:         %[[E:.*]] = tg.call @nested_function_0_function_0_0(%0, %x)
// KERNELS:         %[[E1:.*]] = tg.after %0, %[[E]]
// KERNELS:         tg.call @nested_function_0_0(%out0, %[[E1]])
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %f = tg.function(%x) attributes {tg.outline} {
    %p = tg.param 0 : tensor<4xf32>
    %g = tg.function(%p) attributes {tg.outline} {
      %q = tg.param 0 : tensor<4xf32>
      %e = tg.exp2 %q : tensor<4xf32>
      tg.tuple %e : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
    } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
    %e = tg.gettuple %g 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
    %h = tg.function(%e) attributes {tg.outline = false} {
      %s = tg.param 0 : tensor<4xf32>
      %m = tg.neg %s : tensor<4xf32>
      tg.tuple %m : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
    } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
    %n = tg.gettuple %h 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
    tg.tuple %n : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  %r = tg.gettuple %f 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// Memory passes no cells that are invalid: a FUNCTION on such a value is substituted.

// CHECK-LABEL: func.func @padded
// CHECK-NOT:     tg.call
// CHECK:         tg.neg
func.func @padded(%x: tensor<4xf32>) -> tensor<2xf32> {
  %wide = tg.pad %x at [1] to [6] : tensor<4xf32> -> tensor<6xf32>
  %f = tg.function(%wide) attributes {tg.outline} {
    %p = tg.param 0 : tensor<6xf32>
    %n = tg.neg %p : tensor<6xf32>
    tg.tuple %n : tensor<6xf32> -> !tg.tuple<tensor<6xf32>>
  } : tensor<6xf32> -> !tg.tuple<tensor<6xf32>>
  %n = tg.gettuple %f 0 : !tg.tuple<tensor<6xf32>> -> tensor<6xf32>
  %r = tg.shrink %n at [0] to [2] : tensor<6xf32> -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

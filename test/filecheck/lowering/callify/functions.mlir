// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-callify,tg-verify{level=function})' | filecheck %s

// FUNCTIONs are substituted, nested ones too, and calls of functions as well; a private function that
// is called is gone.

// CHECK-NOT: @twice
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.add %x, %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK-LABEL: @main
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.function(%b, %a) {
    %p = tg.param 0 : tensor<4xf32>
    %q = tg.param 1 : tensor<4xf32>
    %inner = tg.function(%p) {
      %r = tg.param 0 : tensor<4xf32>
      %n = tg.neg %r : tensor<4xf32>
      %t = tg.tuple %n : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
    } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
    %m = tg.gettuple %inner 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
    %s = tg.sub %q, %m : tensor<4xf32>
    %u = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<4xf32>) -> !tg.tuple<tensor<4xf32>>
  %1 = tg.gettuple %0 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  %2 = func.call @twice(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tg.call @twice(%2) : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  %4 = tg.gettuple %3 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}
// CHECK:      %[[N:.*]] = tg.neg %b
// CHECK-NEXT: %[[S:.*]] = tg.sub %a, %[[N]]
// CHECK-NEXT: %[[T:.*]] = tg.add %[[S]], %[[S]]
// CHECK-NEXT: %[[U:.*]] = tg.add %[[T]], %[[T]]
// CHECK-NEXT: tg.store %out0, %[[U]]

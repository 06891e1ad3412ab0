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

// The BUFFERs of a FUNCTION are new in each place where it is substituted; those of the function
// itself are its arguments.

tg.kernel @double {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<4xf32, #tg.place<global>>
  %n = tg.const 4 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %p = tg.index %x[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %v = tg.load %p : tensor<f32, #tg.place<global>> -> tensor<f32>
  %d = tg.add %v, %v : tensor<f32>
  %q = tg.index %o[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %q, %d : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %k = tg.sink %e : !tg.void
}

// CHECK-LABEL: @kernels(
// CHECK-SAME:  {tg.buffer = 0 : i64}
// CHECK-NEXT:  %[[A:.*]] = tg.buffer 0
// CHECK-NEXT:  %[[B:.*]] = tg.buffer 1
// CHECK-NEXT:  %[[S:.*]] = tg.store %[[A]], %x
// CHECK-NEXT:  %[[A1:.*]] = tg.after %[[A]], %[[S]]
// CHECK-NEXT:  tg.call @double(%[[B]], %[[A1]])
// CHECK:       %[[C:.*]] = tg.buffer 2
// CHECK-NEXT:  %[[D:.*]] = tg.buffer 3
// CHECK:       tg.call @double(%[[D]], %{{.*}})
func.func @kernels(%x: tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU">> {
  %kept = tg.buffer 0 : tensor<4xf32, #tg.place<"CPU", global>>
  %once = tg.function(%x) {
    %p = tg.param 0 : tensor<4xf32>
    %a = tg.buffer 0 : tensor<4xf32, #tg.place<"CPU", global>>
    %b = tg.buffer 1 : tensor<4xf32, #tg.place<"CPU", global>>
    %s = tg.store %a, %p : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
    %a1 = tg.after %a, %s : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
    %c = tg.call @double(%b, %a1) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
    %b1 = tg.after %b, %c : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
    %v = tg.load %b1 : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
    %t = tg.tuple %v : tensor<4xf32, #tg.place<"CPU">> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU">>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU">>>
  %0 = tg.gettuple %once 0 : !tg.tuple<tensor<4xf32, #tg.place<"CPU">>> -> tensor<4xf32, #tg.place<"CPU">>
  %twice = tg.function(%0) {
    %p = tg.param 0 : tensor<4xf32, #tg.place<"CPU">>
    %a = tg.buffer 0 : tensor<4xf32, #tg.place<"CPU", global>>
    %b = tg.buffer 1 : tensor<4xf32, #tg.place<"CPU", global>>
    %s = tg.store %a, %p : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU">>
    %a1 = tg.after %a, %s : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
    %c = tg.call @double(%b, %a1) : (tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) -> !tg.void
    %b1 = tg.after %b, %c : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
    %v = tg.load %b1 : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
    %t = tg.tuple %v : tensor<4xf32, #tg.place<"CPU">> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU">>>
  } : tensor<4xf32, #tg.place<"CPU">> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU">>>
  %1 = tg.gettuple %twice 0 : !tg.tuple<tensor<4xf32, #tg.place<"CPU">>> -> tensor<4xf32, #tg.place<"CPU">>
  func.return %1 : tensor<4xf32, #tg.place<"CPU">>
}

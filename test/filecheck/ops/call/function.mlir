// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s
// RUN: tg-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

func.func @same_types(%a: tensor<4xf32>, %b: tensor<f32>) {
  // CHECK-LABEL: @same_types
  // CHECK: %sum = tg.function(%a, %b) {
  // CHECK: } : (tensor<4xf32>, tensor<f32>) -> !tg.tuple<tensor<4xf32>>
  // GENERIC: %sum = "tg.function"(%a, %b) ({
  // GENERIC: }) : (tensor<4xf32>, tensor<f32>) -> !tg.tuple<tensor<4xf32>>
  %sum = tg.function(%a, %b) {
    %p = tg.param 0 : tensor<4xf32>
    %q = tg.param 1 : tensor<f32>
    %s = tg.add %p, %q : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %t = tg.tuple %s : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : (tensor<4xf32>, tensor<f32>) -> !tg.tuple<tensor<4xf32>>
  func.return
}

func.func @no_arguments() {
  // CHECK-LABEL: @no_arguments
  // CHECK: %one = tg.function() {
  // CHECK: } : !tg.tuple<tensor<f32>>
  %one = tg.function() {
    %c = tg.const 1.0 : tensor<f32>
    %t = tg.tuple %c : tensor<f32> -> !tg.tuple<tensor<f32>>
  } : !tg.tuple<tensor<f32>>
  func.return
}

// The type is that of the body with the arguments' types substituted: shapes,

func.func @shapes(%x: tensor<8x2xf32>) {
  %n = tg.const 8 : tensor<index>
  // CHECK-LABEL: @shapes
  // CHECK: } : (tensor<index>, tensor<8x2xf32>) -> !tg.tuple<tensor<8x2xf32>, tensor<8x1xf32>, tensor<?xf32>>
  %r = tg.function(%n, %x) {
    %rows = tg.param 0 "n" min 1 max 64 : tensor<index>
    %p = tg.param 1 (%rows) : tensor<?x2xf32>
    %e = tg.exp2 %p : tensor<?x2xf32>
    %s = tg.reduce add %e [1] : tensor<?x2xf32> -> tensor<?x1xf32>
    %two = tg.const 2 : tensor<index>
    %size = tg.mul %rows, %two : tensor<index>
    %flat = tg.reshape %p [%size] : tensor<?x2xf32> -> tensor<?xf32>
    %t = tg.tuple %e, %s, %flat : (tensor<?x2xf32>, tensor<?x1xf32>, tensor<?xf32>) -> !tg.tuple<tensor<?x2xf32>, tensor<?x1xf32>, tensor<?xf32>>
  } : (tensor<index>, tensor<8x2xf32>) -> !tg.tuple<tensor<8x2xf32>, tensor<8x1xf32>, tensor<?xf32>>
  func.return
}

// devices and memory,

func.func @places(%x: tensor<4xf32, #tg.place<"CPU", global>>) {
  // CHECK-LABEL: @places
  // CHECK: -> !tg.tuple<tensor<4xf32, #tg.place<"CPU">>, tensor<2x2xf32, #tg.place<"CPU", global>>>
  %r = tg.function(%x) {
    %p = tg.param 0 : tensor<4xf32>
    %e = tg.exp2 %p : tensor<4xf32>
    %v = tg.reshape %p [2, 2] : tensor<4xf32> -> tensor<2x2xf32>
    %t = tg.tuple %e, %v : (tensor<4xf32>, tensor<2x2xf32>) -> !tg.tuple<tensor<4xf32>, tensor<2x2xf32>>
  } : tensor<4xf32, #tg.place<"CPU", global>> -> !tg.tuple<tensor<4xf32, #tg.place<"CPU">>, tensor<2x2xf32, #tg.place<"CPU", global>>>
  func.return
}

// and through functions inside.

func.func @nested(%x: tensor<3xf32>) {
  // CHECK-LABEL: @nested
  // CHECK: } : (tensor<index>, tensor<3xf32>) -> !tg.tuple<tensor<3xf32>>
  %m = tg.const 3 : tensor<index>
  %r = tg.function(%m, %x) {
    %n = tg.param 0 : tensor<index>
    %p = tg.param 1 (%n) : tensor<?xf32>
    %f = tg.function(%n, %p) {
      %k = tg.param 0 : tensor<index>
      %q = tg.param 1 (%k) : tensor<?xf32>
      %e = tg.exp2 %q : tensor<?xf32>
      %t = tg.tuple %e : tensor<?xf32> -> !tg.tuple<tensor<?xf32>>
    } : (tensor<index>, tensor<?xf32>) -> !tg.tuple<tensor<?xf32>>
    %g = tg.gettuple %f 0 : !tg.tuple<tensor<?xf32>> -> tensor<?xf32>
    %u = tg.tuple %g : tensor<?xf32> -> !tg.tuple<tensor<?xf32>>
  } : (tensor<index>, tensor<3xf32>) -> !tg.tuple<tensor<3xf32>>
  func.return
}

// A BUFFER inside is memory of one evaluation.

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

func.func @calls_a_kernel(%x: tensor<4xf32>) {
  // CHECK-LABEL: @calls_a_kernel
  // CHECK: %[[P:.*]] = tg.param 0 : tensor<4xf32>
  // CHECK: %[[A:.*]] = tg.buffer 0
  // CHECK: %[[B:.*]] = tg.buffer 1
  // CHECK: %[[S:.*]] = tg.store %[[A]], %[[P]]
  // CHECK: %[[A1:.*]] = tg.after %[[A]], %[[S]]
  // CHECK: %[[C:.*]] = tg.call @double(%[[B]], %[[A1]])
  %r = tg.function(%x) {
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
  func.return
}

// RUN: tg-opt %s --split-input-file --pass-pipeline='builtin.module(tg-callify,tg-verify{level=function})' | filecheck %s

// PARAMs and BUFFERs become arguments, in the order of their slots; an index PARAM keeps its bounds, and
// what is sized by it says so.

// CHECK-LABEL: func.func @leaves
// CHECK-SAME:  (%n: tensor<index> {tg.min = 1 : index, tg.max = 8 : index, tg.name = "n"}
// CHECK-SAME:  %x: tensor<?xf32, #tg.place<"CPU", global>> {tg.dims = array<i64: 0>}
// CHECK-SAME:  %state: tensor<4xf32, #tg.place<"CPU", global>> {tg.buffer = 3 : i64}
// CHECK-SAME:  %out0: tensor<?xf32, #tg.place<"CPU", global>> {tg.output, tg.dims = array<i64: 0>}
func.func @leaves() -> tensor<?xf32> {
  %n = tg.param 0 "n" min 1 max 8 : tensor<index>
  %x = tg.param 1 (%n) : tensor<?xf32>
  %state = tg.buffer 3 : tensor<4xf32, #tg.place<"CPU", global>>
  %c = tg.const 1.0 : tensor<f32>
  %ones = tg.reshape %c [1] : tensor<f32> -> tensor<1xf32>
  %four = tg.expand %ones [4] : tensor<1xf32> -> tensor<4xf32>
  %s = tg.store %state, %four : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32>
  %y = tg.neg %x : tensor<?xf32>
  func.return %y : tensor<?xf32>
}
// CHECK: %[[STATE:.*]] = tg.store %state
// CHECK: %[[OUT:.*]] = tg.store %out0
// CHECK: tg.sink %[[STATE]], %[[OUT]]

// -----

// Markers go; CONTIGUOUS and COPY are LOADs.

// CHECK-LABEL: func.func @markers
func.func @markers(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tg.detach %a : tensor<4xf32>
  %1 = tg.contiguous_backward %0 : tensor<4xf32>
  %2 = tg.contiguous %1 : tensor<4xf32>
  %7 = tg.copy %2 to "CPU" : tensor<4xf32> -> tensor<4xf32, #tg.place<"CPU">>
  %8 = tg.copy %7 to "CPU" : tensor<4xf32, #tg.place<"CPU">> -> tensor<4xf32, #tg.place<"CPU">>
  %9 = tg.add %8, %a : (tensor<4xf32, #tg.place<"CPU">>, tensor<4xf32>) -> tensor<4xf32, #tg.place<"CPU">>
  %10 = tg.copy %9 to "CPU" clone : tensor<4xf32, #tg.place<"CPU">> -> tensor<4xf32, #tg.place<"CPU">>
  %11 = tg.function(%a) {
    %p = tg.param 0 : tensor<4xf32>
    %t = tg.tuple %p : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  } : tensor<4xf32> -> !tg.tuple<tensor<4xf32>>
  %12 = tg.gettuple %11 0 : !tg.tuple<tensor<4xf32>> -> tensor<4xf32>
  func.return %12 : tensor<4xf32>
}
// CHECK-NEXT: %[[C:.*]] = tg.load %a
// CHECK-NEXT: %[[A:.*]] = tg.load %[[C]]
// CHECK-NEXT: %[[B:.*]] = tg.load %[[A]]
// CHECK:      tg.store %out0, %a

// -----

// What is constant stays so.

// CHECK-LABEL: func.func @constant
// CHECK-SAME:  %w: tensor<4xf32, #tg.place<"CL:0", global>> {tg.constant}
// CHECK-SAME:  %v: tensor<4xf32, #tg.place<"CL:0", global>> {tg.constant}
func.func @constant(%w: tensor<4xf32> {tg.constant}) -> tensor<4xf32> {
  %v = tg.param 0 {tg.constant} : tensor<4xf32>
  %0 = tg.add %w, %v : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// A COPY of a constant to one device is the constant.

// CHECK-LABEL: func.func @constant_on_a_device
// CHECK-NEXT:    %0 = tg.const 2.000000e+00 : tensor<f32>
// CHECK-NEXT:    %1 = tg.mul %a, %0 :
// CHECK-NEXT:    %2 = tg.store %out0, %1 :
func.func @constant_on_a_device(%a: tensor<f32, #tg.place<"CL:0">>) -> tensor<f32, #tg.place<"CL:0">> {
  %0 = tg.const 2.0 : tensor<f32>
  %1 = tg.copy %0 to "CL:0" : tensor<f32> -> tensor<f32, #tg.place<"CL:0">>
  %2 = tg.mul %a, %1 : tensor<f32, #tg.place<"CL:0">>
  func.return %2 : tensor<f32, #tg.place<"CL:0">>
}

// CHECK-LABEL: func.func @no_value_on_a_device
// CHECK-NEXT:    %0 = tg.const invalid : tensor<f32>
// CHECK-NEXT:    %1 = tg.load %0 :
func.func @no_value_on_a_device() -> tensor<f32, #tg.place<"CL:0">> {
  %0 = tg.const invalid : tensor<f32>
  %1 = tg.copy %0 to "CL:0" : tensor<f32> -> tensor<f32, #tg.place<"CL:0">>
  func.return %1 : tensor<f32, #tg.place<"CL:0">>
}

// RUN: tg-opt %s --split-input-file --pass-pipeline='builtin.module(tg-callify,tg-verify{level=function})' | filecheck %s

// BINARYs become constant arguments with these bytes, one for all that are equal. One that nothing
// needs is gone.

// CHECK-LABEL: func.func @bytes
// CHECK-SAME:  (%x: tensor<2xui8, #tg.place<"CPU", global>>, %data: tensor<2xui8, #tg.place<"CPU", global>> {tg.constant, tg.data = #tg.data<"0102">}, %out0: tensor<2xui8, #tg.place<"CPU", global>> {tg.output}) {
func.func @bytes(%x: tensor<2xui8>) -> tensor<2xui8> {
  %a = tg.binary "0102" : tensor<2xui8>
  %b = tg.binary "0102" : tensor<2xui8>
  %unused = tg.binary "ff" : tensor<1xui8>
  %0 = tg.add %a, %x : tensor<2xui8>
  %1 = tg.add %0, %b : tensor<2xui8>
  return %1 : tensor<2xui8>
}
// CHECK-NEXT: %0 = tg.add %data, %x
// CHECK-NEXT: %1 = tg.add %0, %data

// -----

// A BITCAST of one, or of an aligned part, is an argument of the new dtype. Other parts are views of
// the bytes.

// CHECK-LABEL: func.func @parts
// CHECK-SAME:  (%data: tensor<8xui8, #tg.place<"CPU", global>> {tg.constant, tg.data = #tg.data<"0000803f00000040">}, %data_1: tensor<2xf32, #tg.place<"CPU", global>> {tg.constant, tg.data = #tg.data<"0000803f00000040">}, %out0
func.func @parts() -> (tensor<1xf32>, tensor<1xf32>) {
  %b = tg.binary "0000803f00000040" : tensor<8xui8>
  %0 = tg.shrink %b at [4] to [4] : tensor<8xui8> -> tensor<4xui8>
  %two = tg.bitcast %0 to f32 : tensor<4xui8> -> tensor<1xf32>
  %1 = tg.shrink %b at [2] to [4] : tensor<8xui8> -> tensor<4xui8>
  %other = tg.bitcast %1 to f32 : tensor<4xui8> -> tensor<1xf32>
  return %two, %other : tensor<1xf32>, tensor<1xf32>
}
// CHECK-NEXT: %0 = tg.shrink %data_1 at [1] to [1]
// CHECK-NEXT: %1 = tg.shrink %data at [2] to [4]
// CHECK-NEXT: %other = tg.bitcast %1 to f32
// CHECK-NEXT: tg.store %out0, %0
// CHECK-NEXT: tg.store %out1, %other

// -----

// A function that is outlined takes the bytes from the one that calls it.

// CHECK-LABEL: func.func @calls
// CHECK-SAME:  (%x: tensor<2xui8, #tg.place<"CPU", global>>, %data: tensor<2xui8, #tg.place<"CPU", global>> {tg.constant, tg.data = #tg.data<"0102">}, %out0: tensor<2xui8, #tg.place<"CPU", global>> {tg.output}) {
// CHECK-NEXT:  tg.call @calls_function_0(%x, %data, %out0)
func.func @calls(%x: tensor<2xui8>) -> tensor<2xui8> {
  %t = tg.function(%x) attributes {tg.outline} {
    %p = tg.param 0 : tensor<2xui8>
    %b = tg.binary "0102" : tensor<2xui8>
    %s = tg.add %p, %b : tensor<2xui8>
    %u = tg.tuple %s : tensor<2xui8> -> !tg.tuple<tensor<2xui8>>
  } : tensor<2xui8> -> !tg.tuple<tensor<2xui8>>
  %r = tg.gettuple %t 0 : !tg.tuple<tensor<2xui8>> -> tensor<2xui8>
  return %r : tensor<2xui8>
}
// CHECK: func.func private @calls_function_0
// CHECK-SAME: {tg.constant, tg.data = #tg.data<"0102">}

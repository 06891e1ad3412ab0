// RUN: tg-opt %s -p tg-simplify | filecheck %s

// Equal ops are one op, floats and movements too; -0 is not 0.
// CHECK-LABEL: @equal
// CHECK-NEXT: tg.const 0.000000e+00
// CHECK-NEXT: tg.const -0.000000e+00
// CHECK-NEXT: %[[S:.*]] = tg.sin %x
// CHECK-NEXT: %[[R:.*]] = tg.reshape %[[S]] [2, 2]
// CHECK-NEXT: func.return %[[R]], %[[R]], %zero, %minus_zero
func.func @equal(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<f32>, tensor<f32>) {
  %zero = tg.const 0.0 : tensor<f32>
  %minus_zero = tg.const -0.0 : tensor<f32>
  %0 = tg.sin %x : tensor<4xf32>
  %1 = tg.sin %x : tensor<4xf32>
  %2 = tg.reshape %0 [2, 2] : tensor<4xf32> -> tensor<2x2xf32>
  %3 = tg.reshape %1 [2, 2] : tensor<4xf32> -> tensor<2x2xf32>
  return %2, %3, %zero, %minus_zero : tensor<2x2xf32>, tensor<2x2xf32>, tensor<f32>, tensor<f32>
}

// Two loads of one version of memory are one; a load after a store is another, and so is one that
// makes new memory. Buffers are never merged.
// CHECK-LABEL: @memory
// CHECK-COUNT-2: tg.buffer
// CHECK: %[[L:.*]] = tg.load %m :
// CHECK-NEXT: tg.load %m addrspace
// CHECK-NEXT: tg.load %m addrspace
// CHECK-NEXT: %[[S:.*]] = tg.store %m, %[[L]]
// CHECK-NEXT: %[[A:.*]] = tg.after %m, %[[S]]
// CHECK-NEXT: %[[M:.*]] = tg.load %[[A]]
// CHECK-NEXT: func.return %[[L]], %[[L]], %[[M]]
func.func @memory(%m: tensor<4xf32, #tg.place<"CPU", global>>) -> (tensor<4xf32, #tg.place<"CPU">>, tensor<4xf32, #tg.place<"CPU">>, tensor<4xf32, #tg.place<"CPU">>, tensor<4xf32, #tg.place<"CPU", local>>, tensor<4xf32, #tg.place<"CPU", local>>, tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>) {
  %b0 = tg.buffer 0 : tensor<4xf32, #tg.place<"CPU", global>>
  %b1 = tg.buffer 0 : tensor<4xf32, #tg.place<"CPU", global>>
  %0 = tg.load %m : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  %1 = tg.load %m : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  %2 = tg.load %m addrspace "local" : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", local>>
  %3 = tg.load %m addrspace "local" : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU", local>>
  %4 = tg.store %m, %0 : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU">>
  %5 = tg.after %m, %4 : (tensor<4xf32, #tg.place<"CPU", global>>, !tg.void) -> tensor<4xf32, #tg.place<"CPU", global>>
  %6 = tg.load %5 : tensor<4xf32, #tg.place<"CPU", global>> -> tensor<4xf32, #tg.place<"CPU">>
  return %0, %1, %6, %2, %3, %b0, %b1 : tensor<4xf32, #tg.place<"CPU">>, tensor<4xf32, #tg.place<"CPU">>, tensor<4xf32, #tg.place<"CPU">>, tensor<4xf32, #tg.place<"CPU", local>>, tensor<4xf32, #tg.place<"CPU", local>>, tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU", global>>
}

// A FUNCTION's body is simplified on its own, and a LINEAR not at all: its order is final.
// CHECK-LABEL: @regions
// CHECK: tg.function
// CHECK: tg.param 0
// CHECK-NEXT: tg.tuple
// CHECK: tg.linear
// CHECK-COUNT-2: tg.const 1
func.func @regions(%x: tensor<i32>) -> tensor<i32> {
  %0 = tg.function(%x) {
    %p = tg.param 0 : tensor<i32>
    %c0 = tg.const 0 : tensor<i32>
    %s = tg.add %p, %c0 : tensor<i32>
    %t = tg.tuple %s : tensor<i32> -> !tg.tuple<tensor<i32>>
  } : tensor<i32> -> !tg.tuple<tensor<i32>>
  %1 = tg.gettuple %0 0 : !tg.tuple<tensor<i32>> -> tensor<i32>
  %2 = tg.linear {
    %a = tg.const 1 : tensor<i32>
    %b = tg.const 1 : tensor<i32>
  }
  %3 = tg.sink %2 : !tg.void
  return %1 : tensor<i32>
}

// A cast there and back is nothing where every value fits.
// CHECK-LABEL: @casts
// CHECK: %[[W:.*]] = tg.cast %{{.*}} to index
// CHECK: func.return %a, %[[W]]
func.func @casts(%a: tensor<index> {tg.min = 0 : index, tg.max = 100 : index}, %b: tensor<index>) -> (tensor<index>, tensor<index>) {
  %0 = tg.cast %a to i32 : tensor<index> -> tensor<i32>
  %1 = tg.cast %0 to index : tensor<i32> -> tensor<index>
  %2 = tg.cast %b to i32 : tensor<index> -> tensor<i32>
  %3 = tg.cast %2 to index : tensor<i32> -> tensor<index>
  return %1, %3 : tensor<index>, tensor<index>
}

// A load that is gated off gives `alt`.
// CHECK-LABEL: @gates
// CHECK: func.return %x
func.func @gates(%m: tensor<4xf32, #tg.place<"CPU", global>>, %x: tensor<4xf32, #tg.place<"CPU">>, %i: tensor<index> {tg.min = 0 : index, tg.max = 3 : index}) -> tensor<4xf32, #tg.place<"CPU">> {
  %c4 = tg.const 4 : tensor<index>
  %0 = tg.cmplt %c4, %i : (tensor<index>, tensor<index>) -> tensor<i1>
  %1 = tg.load %m alt %x gate %0 : tensor<4xf32, #tg.place<"CPU", global>>, tensor<4xf32, #tg.place<"CPU">>, tensor<i1> -> tensor<4xf32, #tg.place<"CPU">>
  return %1 : tensor<4xf32, #tg.place<"CPU">>
}

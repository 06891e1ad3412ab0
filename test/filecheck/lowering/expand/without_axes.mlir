// RUN: tg-opt %s -p tg-expand | filecheck %s

// Loops of one iteration are none, whatever their type.
// CHECK-LABEL: tg.kernel @row
// CHECK-NEXT:    %y = tg.param 0
// CHECK-NEXT:    %n = tg.const 8
// CHECK-NEXT:    %0 = tg.const 0
// CHECK-NEXT:    %j = tg.range 1 loop to %n
// CHECK-NEXT:    %v = tg.cast %0 to f32
// CHECK-NEXT:    %l = tg.index %y[%0, %j]
// CHECK-NEXT:    %s = tg.store %l, %v
// CHECK-NEXT:    %e = tg.end %s over %j
tg.kernel @row {
  %y = tg.param 0 : tensor<1x8xf32, #tg.place<global>>
  %one = tg.const 1 : tensor<index>
  %n = tg.const 8 : tensor<index>
  %i = tg.range 0 upcast to %one : tensor<index>
  %j = tg.range 1 loop to %n : tensor<index>
  %v = tg.cast %i to f32 : tensor<index> -> tensor<f32>
  %l = tg.index %y[%i, %j] : (tensor<1x8xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %l, %v : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  %k = tg.sink %e : !tg.void
}

// Each lane adds, though neither the cell nor the value says which lane it is.
// CHECK-LABEL: tg.kernel @count
// CHECK:         %l = tg.index %y[%zero]
// CHECK-NEXT:    %v = tg.const 3
// CHECK-NEXT:    %[[ONE:\w+]] = tg.reshape %l [1]
// CHECK-NEXT:    %[[CELLS:\w+]] = tg.expand %[[ONE]] [8]
// CHECK-NEXT:    %[[V:\w+]] = tg.reshape %v [1]
// CHECK-NEXT:    %[[VALUES:\w+]] = tg.expand %[[V]] [8]
// CHECK-NEXT:    tg.atomicadd %[[CELLS]], %[[VALUES]]
tg.kernel @count {
  %y = tg.param 0 : tensor<4xi32, #tg.place<global>>
  %zero = tg.const 0 : tensor<index>
  %n = tg.const 8 : tensor<index>
  %i = tg.range 0 upcast to %n : tensor<index>
  %in = tg.after %y, %i : (tensor<4xi32, #tg.place<global>>, tensor<index>) -> tensor<4xi32, #tg.place<global>>
  %l = tg.index %in[%zero] : (tensor<4xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
  %v = tg.const 3 : tensor<i32>
  %a = tg.atomicadd %l, %v : tensor<i32, #tg.place<global>>, tensor<i32>
  %e = tg.end %a over %i : !tg.void
  %k = tg.sink %e : !tg.void
}

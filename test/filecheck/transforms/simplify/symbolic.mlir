// RUN: tg-opt %s --pass-pipeline='builtin.module(tg-simplify)' | filecheck %s

// What a dynamic shape is merged with and split into cancels: a RANGE is less than its bound.

// CHECK-LABEL: tg.kernel @digits
// CHECK-NOT:     idiv
// CHECK-NOT:     mod
// CHECK-NOT:     cmplt
// CHECK:         %[[IJ:.*]] = tg.mul %i, %j
// CHECK-NEXT:    %[[IJK:.*]] = tg.mul %[[IJ]], %k
// CHECK:         tg.store %{{.*}}, %[[IJK]]
tg.kernel @digits {
  %o = tg.param 0 : tensor<100xindex, #tg.place<global>>
  %a = tg.param 1 "a" min 1 max 8 : tensor<index>
  %b = tg.param 2 "b" min 1 max 8 : tensor<index>
  %c = tg.param 3 "c" min 1 max 8 : tensor<index>
  %i = tg.range 0 loop to %a : tensor<index>
  %j = tg.range 1 loop to %b : tensor<index>
  %k = tg.range 2 loop to %c : tensor<index>
  %0 = tg.mul %i, %b : tensor<index>
  %1 = tg.add %0, %j : tensor<index>
  %2 = tg.mul %1, %c : tensor<index>
  %at = tg.add %2, %k : tensor<index>
  %bc = tg.mul %b, %c : tensor<index>
  %first = tg.idiv %at, %bc : tensor<index>
  %rest = tg.mod %at, %bc : tensor<index>
  %second = tg.idiv %rest, %c : tensor<index>
  %third = tg.mod %at, %c : tensor<index>
  %product = tg.mul %first, %second : tensor<index>
  %all = tg.mul %product, %third : tensor<index>
  %ab = tg.mul %a, %b : tensor<index>
  %inside = tg.cmplt %1, %ab : (tensor<index>, tensor<index>) -> tensor<i1>
  %zero = tg.const 0 : tensor<index>
  %value = tg.where %inside, %all, %zero : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  %p = tg.index %o[%1] : (tensor<100xindex, #tg.place<global>>, tensor<index>) -> tensor<index, #tg.place<global>>
  %s = tg.store %p, %value : tensor<index, #tg.place<global>>, tensor<index>
  %e = tg.end %s over %k, %j, %i : !tg.void
  tg.sink %e : !tg.void
}

// A sum is divided as one value by what it is a multiple of.

// CHECK-LABEL: tg.kernel @padded
// CHECK:         %[[IJ:.*]] = tg.mul %i, %j
// CHECK:         tg.store %{{.*}}, %[[IJ]]
tg.kernel @padded {
  %o = tg.param 0 : tensor<100xindex, #tg.place<global>>
  %a = tg.param 1 "a" min 1 max 8 : tensor<index>
  %two = tg.const 2 : tensor<index>
  %n = tg.add %a, %two : tensor<index>
  %ten = tg.const 10 : tensor<index>
  %i = tg.range 0 loop to %ten : tensor<index>
  %j = tg.range 1 loop to %n : tensor<index>
  %0 = tg.mul %i, %n : tensor<index>
  %at = tg.add %0, %j : tensor<index>
  %first = tg.idiv %at, %n : tensor<index>
  %second = tg.mod %at, %n : tensor<index>
  %value = tg.mul %first, %second : tensor<index>
  %p = tg.index %o[%at] : (tensor<100xindex, #tg.place<global>>, tensor<index>) -> tensor<index, #tg.place<global>>
  %s = tg.store %p, %value : tensor<index, #tg.place<global>>, tensor<index>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e : !tg.void
}

// Over the integers only: a product that may wrap is no multiple.

// CHECK-LABEL: func.func @wraps
// CHECK:         %[[P:.*]] = tg.mul %x, %y
// CHECK-NEXT:    tg.idiv %[[P]], %y
func.func @wraps(%x: tensor<i32>) -> tensor<i32> {
  %y = tg.param 0 min 1 max 9 : tensor<i32>
  %p = tg.mul %x, %y : tensor<i32>
  %q = tg.idiv %p, %y : tensor<i32>
  func.return %q : tensor<i32>
}

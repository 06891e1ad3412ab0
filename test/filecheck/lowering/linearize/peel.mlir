// RUN: tg-opt %s -p 'tg-select{features=avx2},tg-linearize,tg-verify{level=linear}' | filecheck %s

// A row of 34 in vectors of 8: only the last one needs a mask, and is apart from the loop. Loops that
// end with it have ENDs of their own.

// CHECK-LABEL: tg.program @ragged
// CHECK:         %[[I:.*]] = tg.range 0 loop
// CHECK:         %[[FOUR:.*]] = tg.const 4 : tensor<index>
// CHECK:         %[[J:.*]] = tg.range 1 loop to %[[FOUR]]
// CHECK-NOT:     gate
// CHECK:         %[[E:.*]] = tg.end %{{.*}} over %[[J]]
// CHECK:         tg.load %{{.*}} alt %{{.*}} gate %[[MASK:[^ ]*]] :
// CHECK:         tg.store %{{.*}} gate %[[MASK]] :
// CHECK:         tg.end %[[E]] over %[[I]]
tg.kernel @ragged {
  %o = tg.param 0 : tensor<10x34xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<10x34xf32, #tg.place<global>>
  %rows = tg.const 10 : tensor<index>
  %n = tg.const 5 : tensor<index>
  %i = tg.range 0 loop to %rows : tensor<index>
  %j = tg.range 1 loop to %n : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %width = tg.const 34 : tensor<index>
  %lanes = tg.vconst [0, 1, 2, 3, 4, 5, 6, 7] : tensor<8xindex>
  %start = tg.mul %j, %c8 : tensor<index>
  %v = tg.add %start, %lanes : (tensor<index>, tensor<8xindex>) -> tensor<8xindex>
  %inside = tg.cmplt %v, %width : (tensor<8xindex>, tensor<index>) -> tensor<8xi1>
  %zero = tg.const 0.0 : tensor<f32>
  %one = tg.reshape %zero [1] : tensor<f32> -> tensor<1xf32>
  %zeros = tg.expand %one [8] : tensor<1xf32> -> tensor<8xf32>
  %at = tg.index %p[%i, %v] : (tensor<10x34xf32, #tg.place<global>>, tensor<index>, tensor<8xindex>) -> tensor<8xf32, #tg.place<global>>
  %x = tg.load %at alt %zeros gate %inside : tensor<8xf32, #tg.place<global>>, tensor<8xf32>, tensor<8xi1> -> tensor<8xf32>
  %to = tg.index %o[%i, %v] : (tensor<10x34xf32, #tg.place<global>>, tensor<index>, tensor<8xindex>) -> tensor<8xf32, #tg.place<global>>
  %s = tg.store %to, %x gate %inside : tensor<8xf32, #tg.place<global>>, tensor<8xf32>, tensor<8xi1>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e : !tg.void
}

// The border of a stencil: the first and the last iteration are apart. The loop begins at 1.
// CHECK-LABEL: tg.program @border
// CHECK:         tg.load %{{.*}} gate
// CHECK:         tg.store
// CHECK:         %[[N:.*]] = tg.const 123 : tensor<index>
// CHECK:         %[[ONE:.*]] = tg.const 1 : tensor<index>
// CHECK:         %[[K:.*]] = tg.range 0 loop to %[[N]]
// CHECK-NEXT:    tg.add %[[K]], %[[ONE]]
// CHECK-NOT:     gate
// CHECK-NOT:     tg.where
// CHECK:         tg.end
// CHECK:         tg.load %{{.*}} gate
// CHECK:         tg.store
tg.kernel @border {
  %o = tg.param 0 : tensor<1000xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<1000xf32, #tg.place<global>>
  %n = tg.const 125 : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %c1 = tg.const 1 : tensor<index>
  %m1 = tg.const -1 : tensor<index>
  %c0 = tg.const 0 : tensor<index>
  %last = tg.const 999 : tensor<index>
  %zero = tg.const 0.0 : tensor<f32>
  %lanes = tg.vconst [0, 1, 2, 3, 4, 5, 6, 7] : tensor<8xindex>
  %start = tg.mul %i, %c8 : tensor<index>
  %v = tg.add %start, %lanes : (tensor<index>, tensor<8xindex>) -> tensor<8xindex>
  %next = tg.add %v, %c1 : (tensor<8xindex>, tensor<index>) -> tensor<8xindex>
  %back = tg.add %v, %m1 : (tensor<8xindex>, tensor<index>) -> tensor<8xindex>
  %right = tg.cmplt %v, %last : (tensor<8xindex>, tensor<index>) -> tensor<8xi1>
  %left = tg.cmplt %c0, %v : (tensor<index>, tensor<8xindex>) -> tensor<8xi1>
  %at = tg.index %p[%next] : (tensor<1000xf32, #tg.place<global>>, tensor<8xindex>) -> tensor<8xf32, #tg.place<global>>
  %x = tg.load %at : tensor<8xf32, #tg.place<global>> -> tensor<8xf32>
  %y = tg.where %right, %x, %zero : (tensor<8xi1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %bt = tg.index %p[%back] : (tensor<1000xf32, #tg.place<global>>, tensor<8xindex>) -> tensor<8xf32, #tg.place<global>>
  %u = tg.load %bt : tensor<8xf32, #tg.place<global>> -> tensor<8xf32>
  %w = tg.where %left, %u, %zero : (tensor<8xi1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %sum = tg.add %y, %w : tensor<8xf32>
  %to = tg.index %o[%v] : (tensor<1000xf32, #tg.place<global>>, tensor<8xindex>) -> tensor<8xf32, #tg.place<global>>
  %s = tg.store %to, %sum : tensor<8xf32, #tg.place<global>>, tensor<8xf32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// A loop of dynamic extent is not split by a comparison in i8, in which its index is wrapped: lanes
// from 128 on are not greater than 50.
// CHECK-LABEL: tg.program @wrapped
// CHECK:         tg.range 0 loop to %bound
// CHECK:         tg.load %{{.*}} gate %inside
// CHECK-NOT:     tg.range
tg.kernel @wrapped {
  %n = tg.param 2 min 0 max 1000 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %p = tg.param 0 : tensor<1000xf32, #tg.place<global>>
  %o = tg.param 1 : tensor<1000xf32, #tg.place<global>>
  %bound = tg.idiv %n, %c8 : tensor<index>
  %i = tg.range 0 loop to %bound : tensor<index>
  %fifty = tg.const 50 : tensor<i8>
  %lanes = tg.vconst [0, 1, 2, 3, 4, 5, 6, 7] : tensor<8xindex>
  %start = tg.mul %i, %c8 : tensor<index>
  %v = tg.add %start, %lanes : (tensor<index>, tensor<8xindex>) -> tensor<8xindex>
  %small = tg.cast %v to i8 : tensor<8xindex> -> tensor<8xi8>
  %inside = tg.cmplt %fifty, %small : (tensor<i8>, tensor<8xi8>) -> tensor<8xi1>
  %zero = tg.const 0.0 : tensor<f32>
  %one = tg.reshape %zero [1] : tensor<f32> -> tensor<1xf32>
  %zeros = tg.expand %one [8] : tensor<1xf32> -> tensor<8xf32>
  %at = tg.index %p[%v] : (tensor<1000xf32, #tg.place<global>>, tensor<8xindex>) -> tensor<8xf32, #tg.place<global>>
  %x = tg.load %at alt %zeros gate %inside : tensor<8xf32, #tg.place<global>>, tensor<8xf32>, tensor<8xi1> -> tensor<8xf32>
  %to = tg.index %o[%v] : (tensor<1000xf32, #tg.place<global>>, tensor<8xindex>) -> tensor<8xf32, #tg.place<global>>
  %s = tg.store %to, %x : tensor<8xf32, #tg.place<global>>, tensor<8xf32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

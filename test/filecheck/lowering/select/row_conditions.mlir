// RUN: tg-opt %s -p 'tg-select{features=avx2},tg-verify{level=target}' | filecheck %s
// RUN: tg-opt %s -p 'tg-select{features=avx2},tg-linearize,tg-verify{level=linear}' | filecheck %s --check-prefix=LINEAR

// A condition on the rows of a tile is a scalar for each row. The bounds check of the first row is
// the same condition, and those of the others hold.

// CHECK-LABEL:   tg.kernel @rows
// CHECK:         %[[FIRST:.*]] = tg.cmplt %{{.*}}, %{{.*}} : (tensor<index>, tensor<index>) -> tensor<i1>
// CHECK-NOT:     tg.cmplt
// CHECK:         %[[ROW:.*]] = tg.load %{{.*}} gate %[[FIRST]] :
// CHECK-NOT:     gate
// CHECK:         tg.where %[[FIRST]], %[[ROW]],

// What the gate of a LOAD makes 0 needs no WHERE. Nor is one left where its condition always holds.

// LINEAR-LABEL:   tg.program @rows
// LINEAR-NOT:     tg.where
tg.kernel @rows {
  %o = tg.param 0 : tensor<4096x8xf32, #tg.place<global>>
  %p = tg.param 1 : tensor<4096x8xf32, #tg.place<global>>
  %n = tg.const 1024 : tensor<index>
  %i = tg.range 0 global to %n : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %above = tg.const -1 : tensor<index>
  %c0 = tg.const 0 : tensor<index>
  %steps = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
  %lanes = tg.vconst [0, 1, 2, 3, 4, 5, 6, 7] : tensor<8xindex>
  %start = tg.mul %i, %c4 : tensor<index>
  %rows = tg.add %start, %steps : (tensor<index>, tensor<4xindex>) -> tensor<4xindex>
  %before = tg.add %rows, %above : (tensor<4xindex>, tensor<index>) -> tensor<4xindex>
  %inside = tg.cmplt %c0, %rows : (tensor<index>, tensor<4xindex>) -> tensor<4xi1>
  %column = tg.reshape %inside [4, 1] : tensor<4xi1> -> tensor<4x1xi1>
  %zero = tg.const 0.0 : tensor<f32>
  %at = tg.index %p[%before, %lanes] : (tensor<4096x8xf32, #tg.place<global>>, tensor<4xindex>, tensor<8xindex>) -> tensor<4x8xf32, #tg.place<global>>
  %x = tg.load %at : tensor<4x8xf32, #tg.place<global>> -> tensor<4x8xf32>
  %y = tg.where %column, %x, %zero : (tensor<4x1xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %to = tg.index %o[%rows, %lanes] : (tensor<4096x8xf32, #tg.place<global>>, tensor<4xindex>, tensor<8xindex>) -> tensor<4x8xf32, #tg.place<global>>
  %s = tg.store %to, %y : tensor<4x8xf32, #tg.place<global>>, tensor<4x8xf32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

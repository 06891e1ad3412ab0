// RUN: tg-opt %s -p tg-render | filecheck %s

// Elements a few apart are picked out of vectors that have all of them, and none beyond the last.

// CHECK-LABEL: llvm.func @k
// CHECK:       %[[THREE:.*]] = llvm.mlir.constant(3) : i64
// CHECK:       %[[A:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK:       llvm.shufflevector %[[A]], %[[A]] [0, 2, 2, 3]
// CHECK:       llvm.getelementptr %{{.*}}[%[[THREE]]]
// CHECK:       %[[B:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK:       llvm.shufflevector %{{.*}}, %[[B]] [0, 1, 5, 7]

// Those of a gate are loaded with masks, which have the gate's lanes where the elements are.
// CHECK:       llvm.shufflevector %[[GATE:.*]], %{{.*}} [0, 4, 1, 4]
// CHECK:       llvm.intr.masked.load
// CHECK:       llvm.shufflevector %[[GATE]], %{{.*}} [4, 2, 4, 3]
// CHECK:       llvm.intr.masked.load
// CHECK:       llvm.select %[[GATE]]

// What is in registers stays there, and what is too far apart is loaded element by element. One element for two lanes
// is there if either gate says so.
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK-NOT:     llvm.intr.masked.load
// CHECK:         llvm.return

#g = #tg.place<global>
#r = #tg.place<reg>
tg.program @k {
  tg.linear {
    %x = tg.param 0 : tensor<64xf32, #g>
    %y = tg.param 1 : tensor<4xf32, #g>
    %b = tg.buffer 0 : tensor<8xf32, #r>
    %n = tg.const 3 : tensor<index>
    %z = tg.const 0.0 : tensor<f32>
    %two = tg.vconst [0, 2, 4, 6] : tensor<4xindex>
    %nine = tg.vconst [0, 9, 18, 27] : tensor<4xindex>
    %i = tg.range 0 loop to %n : tensor<index>
    %at = tg.add %i, %two : (tensor<index>, tensor<4xindex>) -> tensor<4xindex>
    %p = tg.index %x[%at] : (tensor<64xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %v = tg.load %p : tensor<4xf32, #g> -> tensor<4xf32>
    %gate = tg.cmplt %at, %n : (tensor<4xindex>, tensor<index>) -> tensor<4xi1>
    %z1 = tg.reshape %z [1] : tensor<f32> -> tensor<1xf32>
    %alt = tg.expand %z1 [4] : tensor<1xf32> -> tensor<4xf32>
    %w = tg.load %p alt %alt gate %gate : tensor<4xf32, #g>, tensor<4xf32>, tensor<4xi1> -> tensor<4xf32>
    %q = tg.index %b[%two] : (tensor<8xf32, #r>, tensor<4xindex>) -> tensor<4xf32, #r>
    %u = tg.load %q : tensor<4xf32, #r> -> tensor<4xf32>
    %f = tg.add %i, %nine : (tensor<index>, tensor<4xindex>) -> tensor<4xindex>
    %o = tg.index %x[%f] : (tensor<64xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %t = tg.load %o : tensor<4xf32, #g> -> tensor<4xf32>
    %twice = tg.vconst [0, 2, 2, 6] : tensor<4xindex>
    %both = tg.add %i, %twice : (tensor<index>, tensor<4xindex>) -> tensor<4xindex>
    %d = tg.index %x[%both] : (tensor<64xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %dv = tg.load %d alt %alt gate %gate : tensor<4xf32, #g>, tensor<4xf32>, tensor<4xi1> -> tensor<4xf32>
    %0 = tg.add %t, %dv : tensor<4xf32>
    %1 = tg.add %v, %w : tensor<4xf32>
    %2 = tg.add %u, %0 : tensor<4xf32>
    %3 = tg.add %1, %2 : tensor<4xf32>
    %lanes = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
    %l = tg.index %y[%lanes] : (tensor<4xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %s = tg.store %l, %3 : tensor<4xf32, #g>, tensor<4xf32>
    %e = tg.end %s over %i : !tg.void
    %k = tg.sink %e : !tg.void
  }
}

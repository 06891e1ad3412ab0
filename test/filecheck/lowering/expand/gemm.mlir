// RUN: tg-opt %s -p tg-expand --verify-each=true | filecheck %s

// A gemm with a tile of 4x4 accumulators and two steps of k at a time.

// CHECK-LABEL: tg.kernel @gemm
tg.kernel @gemm {
  %o = tg.param 0 : tensor<8x8xf32, #tg.place<global>>
  %a = tg.param 1 : tensor<8x6xf32, #tg.place<global>>
  %b = tg.param 2 : tensor<6x8xf32, #tg.place<global>>
  %c2 = tg.const 2 : tensor<index>
  %c3 = tg.const 3 : tensor<index>
  %c4 = tg.const 4 : tensor<index>
  %i0 = tg.range 0 loop to %c2 : tensor<index>
  %i1 = tg.range 3 upcast to %c4 : tensor<index>
  %j0 = tg.range 1 loop to %c2 : tensor<index>
  %j1 = tg.range 4 upcast to %c4 : tensor<index>
  %k0 = tg.range 2 reduce to %c3 : tensor<index>
  %k1 = tg.range 5 unroll to %c2 : tensor<index>
  %i4 = tg.mul %i0, %c4 : tensor<index>
  %i = tg.add %i4, %i1 : tensor<index>
  %j4 = tg.mul %j0, %c4 : tensor<index>
  %j = tg.add %j4, %j1 : tensor<index>
  %k2 = tg.mul %k0, %c2 : tensor<index>
  %k = tg.add %k2, %k1 : tensor<index>
  %al = tg.index %a[%i, %k] : (tensor<8x6xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %bl = tg.index %b[%k, %j] : (tensor<6x8xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  // The axes are k, i, j everywhere: a view of A is transposed.
  // CHECK:      [[A:%.*]] = tg.index %a[%i, %k] : {{.*}} -> tensor<4x2xf32, #tg.place<global>>
  // CHECK-NEXT: %al = tg.permute [[A]] [1, 0] : {{.*}} -> tensor<2x4xf32, #tg.place<global>>
  // CHECK-NEXT: %bl = tg.index %b[%k, %j] : {{.*}} -> tensor<2x4xf32, #tg.place<global>>
  %av = tg.load %al : tensor<f32, #tg.place<global>> -> tensor<f32>
  %bv = tg.load %bl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %m = tg.mul %av, %bv : tensor<f32>
  // CHECK:      [[AK:%.*]] = tg.reshape %av [2, 4, 1]
  // CHECK-NEXT: [[BK:%.*]] = tg.reshape %bv [2, 1, 4]
  // CHECK-NEXT: %m = tg.mul [[AK]], [[BK]] : {{.*}} -> tensor<2x4x4xf32>
  %r = tg.reduce add %m [] over %k0, %k1 : tensor<f32> -> tensor<f32>
  // CHECK-NEXT: %acc = tg.buffer 0 : tensor<4x4xf32, #tg.place<reg>>
  // CHECK-NEXT: [[OUTER:%.*]] = tg.after %acc, %i0, %j0
  // CHECK-NEXT: [[ZERO:%.*]] = tg.const 0.0{{.*}} : tensor<f32>
  // CHECK-NEXT: [[ONES:%.*]] = tg.reshape [[ZERO]] [1, 1]
  // CHECK-NEXT: [[ZEROS:%.*]] = tg.expand [[ONES]] [4, 4]
  // CHECK-NEXT: [[INIT:%.*]] = tg.store [[OUTER]], [[ZEROS]]
  // CHECK-NEXT: [[INSIDE:%.*]] = tg.after %acc, [[INIT]], %k0
  // CHECK-NEXT: [[OLD:%.*]] = tg.load [[INSIDE]]
  // CHECK:      [[A0:%.*]] = tg.index %av[%{{.*}}] : {{.*}} -> tensor<4xf32>
  // CHECK-NEXT: [[B0:%.*]] = tg.index %bv[%{{.*}}] : {{.*}} -> tensor<4xf32>
  // CHECK-NEXT: [[C0:%.*]] = tg.reshape [[A0]] [4, 1]
  // CHECK-NEXT: [[S0:%.*]] = tg.mulacc [[C0]], [[B0]], [[OLD]] : {{.*}} -> tensor<4x4xf32>
  // CHECK:      [[A1:%.*]] = tg.index %av
  // CHECK-NEXT: [[B1:%.*]] = tg.index %bv
  // CHECK-NEXT: [[C1:%.*]] = tg.reshape [[A1]] [4, 1]
  // CHECK-NEXT: [[NEW:%.*]] = tg.mulacc [[C1]], [[B1]], [[S0]]
  // CHECK-NEXT: [[UPDATE:%.*]] = tg.store [[INSIDE]], [[NEW]]
  // CHECK-NEXT: [[END:%.*]] = tg.end [[UPDATE]] over %k0
  // CHECK-NEXT: [[DONE:%.*]] = tg.after %acc, [[END]]
  // CHECK-NEXT: %r = tg.load [[DONE]] : {{.*}} -> tensor<4x4xf32>
  %ol = tg.index %o[%i, %j] : (tensor<8x8xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %ol, %r : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %j1, %i1, %j0, %i0 : !tg.void
  // CHECK:      %s = tg.store %ol, %r
  // CHECK-NEXT: %e = tg.end %s over %j0, %i0
  // CHECK-NEXT: tg.sink %e opts [#tg.opt<split 0, 4, upcast>]
  tg.sink %e opts [#tg.opt<split 0, 4, upcast>] : !tg.void
}

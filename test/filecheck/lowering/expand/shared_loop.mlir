// RUN: tg-opt %s -p tg-expand --verify-each=true | filecheck %s

// REDUCEs over the same range that do not depend on each other are computed in one loop.

// CHECK-LABEL: tg.kernel @moments
tg.kernel @moments {
  %o = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<4x8xf32, #tg.place<global>>
  %c4 = tg.const 4 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %k = tg.range 1 reduce to %c8 : tensor<index>
  %xl = tg.index %x[%i, %k] : (tensor<4x8xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %sum = tg.reduce add %xv [] over %k : tensor<f32> -> tensor<f32>
  %half = tg.const 0.5 : tensor<f32>
  %mean = tg.mul %sum, %half : tensor<f32>
  %xx = tg.mul %xv, %xv : tensor<f32>
  %squares = tg.reduce add %xx [] over %k : tensor<f32> -> tensor<f32>
  // CHECK:      %xv = tg.load %xl
  // CHECK-NEXT: %xx = tg.mul %xv, %xv
  // CHECK:      tg.store %{{.*}}, %{{.*}} : tensor<f32, #tg.place<reg>>
  // CHECK:      tg.add %{{.*}}, %xv
  // CHECK:      tg.store %{{.*}}, %{{.*}} : tensor<f32, #tg.place<reg>>
  // CHECK:      tg.mulacc %xv, %xv, %{{.*}}
  // CHECK:      [[BOTH:%.*]] = tg.group
  // CHECK-NEXT: [[END:%.*]] = tg.end [[BOTH]] over %k
  // CHECK-NEXT: tg.after %acc, [[END]]
  // CHECK-NEXT: %sum = tg.load
  // CHECK-NEXT: tg.after %{{.*}}, [[END]]
  // CHECK-NEXT: %squares = tg.load
  // CHECK:      %mean = tg.mul %sum
  %d = tg.sub %squares, %mean : tensor<f32>
  %ol = tg.index %o[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %ol, %d : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// The sum needs the maximum, and the result is written over the same range: three loops, each with
// a RANGE of its own and what it computes from it.
// CHECK-LABEL: tg.kernel @softmax
tg.kernel @softmax {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %c8 = tg.const 8 : tensor<index>
  %k = tg.range 0 reduce to %c8 : tensor<index>
  %xl = tg.index %x[%k] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %max = tg.reduce max %xv [] over %k : tensor<f32> -> tensor<f32>
  %d = tg.sub %xv, %max : tensor<f32>
  %p = tg.exp2 %d : tensor<f32>
  %sum = tg.reduce add %p [] over %k : tensor<f32> -> tensor<f32>
  %q = tg.div %p, %sum : tensor<f32>
  %ol = tg.index %o[%k] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %ol, %q : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %k : !tg.void
  tg.sink %e : !tg.void
  // CHECK-DAG:  [[K0:%k.*]] = tg.range 0 reduce
  // CHECK-DAG:  [[K1:%k.*]] = tg.range 1 reduce
  // CHECK-DAG:  [[K2:%k.*]] = tg.range 2 reduce
  // CHECK:      tg.end %{{.*}} over [[K1]]
  // CHECK:      %max = tg.load
  // CHECK:      tg.end %{{.*}} over [[K2]]
  // CHECK:      %sum = tg.load
  // CHECK:      %q = tg.div %{{.*}}, %sum
  // CHECK:      %e = tg.end %s over [[K0]]
}

// RUN: tg-opt %s -p tg-expand --verify-each=true | filecheck %s

// What an accumulator holds, and what it starts from. There is no loop around these: the first STORE
// is to the buffer itself.

// CHECK-LABEL: @add_f32
// CHECK:      %acc = tg.buffer 0 : tensor<f32, #tg.place<reg>>
// CHECK-NEXT: [[ID:%.*]] = tg.const 0.0{{.*}} : tensor<f32>
// CHECK-NEXT: [[INIT:%.*]] = tg.store %acc, [[ID]]
// CHECK-NEXT: [[IN:%.*]] = tg.after %acc, [[INIT]], %k
// CHECK-NEXT: [[OLD:%.*]] = tg.load [[IN]]
// CHECK-NEXT: [[NEW:%.*]] = tg.add [[OLD]], %xv : tensor<f32>
// CHECK-NEXT: tg.store [[IN]], [[NEW]]
tg.kernel @add_f32 {
  %o = tg.param 0 : tensor<1xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf32, #tg.place<global>>
  %zero = tg.const 0 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %k = tg.range 0 reduce to %c8 : tensor<index>
  %xl = tg.index %x[%k] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %xv = tg.load %xl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %r = tg.reduce add %xv [] over %k : tensor<f32> -> tensor<f32>
  %ol = tg.index %o[%zero] : (tensor<1xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %ol, %r : tensor<f32, #tg.place<global>>, tensor<f32>
  tg.sink %s : !tg.void
}

// Sums and products of f16 are in f32.
// CHECK-LABEL: @mul_f16
// CHECK:      [[X:%.*]] = tg.cast %xv to f32
// CHECK-NEXT: %acc = tg.buffer 0 : tensor<f32, #tg.place<reg>>
// CHECK-NEXT: tg.const 1.0{{.*}} : tensor<f32>
// CHECK:      tg.mul %{{.*}}, [[X]] : tensor<f32>
// CHECK:      [[R:%.*]] = tg.load
// CHECK-NEXT: %r = tg.cast [[R]] to f16
tg.kernel @mul_f16 {
  %o = tg.param 0 : tensor<1xf16, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf16, #tg.place<global>>
  %zero = tg.const 0 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %k = tg.range 0 reduce to %c8 : tensor<index>
  %xl = tg.index %x[%k] : (tensor<8xf16, #tg.place<global>>, tensor<index>) -> tensor<f16, #tg.place<global>>
  %xv = tg.load %xl : tensor<f16, #tg.place<global>> -> tensor<f16>
  %r = tg.reduce mul %xv [] over %k : tensor<f16> -> tensor<f16>
  %ol = tg.index %o[%zero] : (tensor<1xf16, #tg.place<global>>, tensor<index>) -> tensor<f16, #tg.place<global>>
  %s = tg.store %ol, %r : tensor<f16, #tg.place<global>>, tensor<f16>
  tg.sink %s : !tg.void
}

// A maximum needs no more than the dtype.
// CHECK-LABEL: @max_bf16
// CHECK:      %acc = tg.buffer 0 : tensor<bf16, #tg.place<reg>>
// CHECK-NEXT: tg.const -inf : tensor<bf16>
// CHECK:      tg.max %{{.*}}, %xv : tensor<bf16>
tg.kernel @max_bf16 {
  %o = tg.param 0 : tensor<1xbf16, #tg.place<global>>
  %x = tg.param 1 : tensor<8xbf16, #tg.place<global>>
  %zero = tg.const 0 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %k = tg.range 0 reduce to %c8 : tensor<index>
  %xl = tg.index %x[%k] : (tensor<8xbf16, #tg.place<global>>, tensor<index>) -> tensor<bf16, #tg.place<global>>
  %xv = tg.load %xl : tensor<bf16, #tg.place<global>> -> tensor<bf16>
  %r = tg.reduce max %xv [] over %k : tensor<bf16> -> tensor<bf16>
  %ol = tg.index %o[%zero] : (tensor<1xbf16, #tg.place<global>>, tensor<index>) -> tensor<bf16, #tg.place<global>>
  %s = tg.store %ol, %r : tensor<bf16, #tg.place<global>>, tensor<bf16>
  tg.sink %s : !tg.void
}

// CHECK-LABEL: @max_f8E4M3FN
// CHECK: tg.const -4.480000e+02 : tensor<f8E4M3FN>
tg.kernel @max_f8E4M3FN {
  %o = tg.param 0 : tensor<1xf8E4M3FN, #tg.place<global>>
  %x = tg.param 1 : tensor<8xf8E4M3FN, #tg.place<global>>
  %zero = tg.const 0 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %k = tg.range 0 reduce to %c8 : tensor<index>
  %xl = tg.index %x[%k] : (tensor<8xf8E4M3FN, #tg.place<global>>, tensor<index>) -> tensor<f8E4M3FN, #tg.place<global>>
  %xv = tg.load %xl : tensor<f8E4M3FN, #tg.place<global>> -> tensor<f8E4M3FN>
  %r = tg.reduce max %xv [] over %k : tensor<f8E4M3FN> -> tensor<f8E4M3FN>
  %ol = tg.index %o[%zero] : (tensor<1xf8E4M3FN, #tg.place<global>>, tensor<index>) -> tensor<f8E4M3FN, #tg.place<global>>
  %s = tg.store %ol, %r : tensor<f8E4M3FN, #tg.place<global>>, tensor<f8E4M3FN>
  tg.sink %s : !tg.void
}

// CHECK-LABEL: @max_i32
// CHECK: tg.const -2147483648 : tensor<i32>
tg.kernel @max_i32 {
  %o = tg.param 0 : tensor<1xi32, #tg.place<global>>
  %x = tg.param 1 : tensor<8xi32, #tg.place<global>>
  %zero = tg.const 0 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %k = tg.range 0 reduce to %c8 : tensor<index>
  %xl = tg.index %x[%k] : (tensor<8xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
  %xv = tg.load %xl : tensor<i32, #tg.place<global>> -> tensor<i32>
  %r = tg.reduce max %xv [] over %k : tensor<i32> -> tensor<i32>
  %ol = tg.index %o[%zero] : (tensor<1xi32, #tg.place<global>>, tensor<index>) -> tensor<i32, #tg.place<global>>
  %s = tg.store %ol, %r : tensor<i32, #tg.place<global>>, tensor<i32>
  tg.sink %s : !tg.void
}

// CHECK-LABEL: @mul_i1
// CHECK: tg.const true : tensor<i1>
// CHECK: tg.mul %{{.*}}, %xv : tensor<i1>
tg.kernel @mul_i1 {
  %o = tg.param 0 : tensor<1xi1, #tg.place<global>>
  %x = tg.param 1 : tensor<8xi1, #tg.place<global>>
  %zero = tg.const 0 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %k = tg.range 0 reduce to %c8 : tensor<index>
  %xl = tg.index %x[%k] : (tensor<8xi1, #tg.place<global>>, tensor<index>) -> tensor<i1, #tg.place<global>>
  %xv = tg.load %xl : tensor<i1, #tg.place<global>> -> tensor<i1>
  %r = tg.reduce mul %xv [] over %k : tensor<i1> -> tensor<i1>
  %ol = tg.index %o[%zero] : (tensor<1xi1, #tg.place<global>>, tensor<index>) -> tensor<i1, #tg.place<global>>
  %s = tg.store %ol, %r : tensor<i1, #tg.place<global>>, tensor<i1>
  tg.sink %s : !tg.void
}

// RUN: tg-opt %s -p tg-annotate-properties | filecheck %s

// a in [-3, 5], b in [2, 9]

// CHECK-LABEL: tg.kernel @integers
tg.kernel @integers {
  // CHECK: %o = tg.param 0 {{.*}}tg.min_max = "[-inf, inf] or nan"
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  // CHECK: %a = tg.param 1 {{.*}}tg.min_max = "[-3, 5]"
  %a = tg.param 1 "a" min -3 max 5 : tensor<index>
  // CHECK: %b = tg.param 2 {{.*}}tg.min_max = "[2, 9]"
  %b = tg.param 2 "b" min 2 max 9 : tensor<index>
  // CHECK: %c4 = tg.const 4 {{.*}}tg.min_max = "[4, 4]"
  %c4 = tg.const 4 : tensor<index>
  // [a + b, A + B]
  // CHECK: tg.add %a, %b {{.*}}tg.min_max = "[-1, 14]"
  %add = tg.add %a, %b : tensor<index>
  // [min, max] of the products of the ends
  // CHECK: tg.mul %a, %b {{.*}}tg.min_max = "[-27, 45]"
  %mul = tg.mul %a, %b : tensor<index>
  // CHECK: tg.mul %a, %a {{.*}}tg.min_max = "[-15, 25]"
  %sq = tg.mul %a, %a : tensor<index>
  // [max(a, b), max(A, B)]
  // CHECK: tg.max %a, %b {{.*}}tg.min_max = "[2, 9]"
  %max = tg.max %a, %b : tensor<index>
  // CHECK: tg.sub %a, %b {{.*}}tg.min_max = "[-12, 3]"
  %sub = tg.sub %a, %b : tensor<index>
  // CHECK: tg.neg %a {{.*}}tg.min_max = "[-5, 3]"
  %neg = tg.neg %a : tensor<index>
  // floor division and its modulo
  // CHECK: tg.idiv %a, %b {{.*}}tg.min_max = "[-2, 2]"
  %idiv = tg.idiv %a, %b : tensor<index>
  // CHECK: tg.mod %a, %b {{.*}}tg.min_max = "[0, 8]"
  %mod = tg.mod %a, %b : tensor<index>
  // CHECK: tg.cmplt %a, %b {{.*}}tg.min_max = "[0, 1]"
  %lt = tg.cmplt %a, %b : (tensor<index>, tensor<index>) -> tensor<i1>
  // CHECK: tg.cmplt %sub, %c4 {{.*}}tg.min_max = "[1, 1]"
  %lt1 = tg.cmplt %sub, %c4 : (tensor<index>, tensor<index>) -> tensor<i1>
  // CHECK: tg.cmplt %b, %idiv {{.*}}tg.min_max = "[0, 0]"
  %lt0 = tg.cmplt %b, %idiv : (tensor<index>, tensor<index>) -> tensor<i1>
  // CHECK: tg.cmpne %sub, %c4 {{.*}}tg.min_max = "[1, 1]"
  %ne1 = tg.cmpne %sub, %c4 : (tensor<index>, tensor<index>) -> tensor<i1>
  // CHECK: tg.cmpne %c4, %c4 {{.*}}tg.min_max = "[0, 0]"
  %ne0 = tg.cmpne %c4, %c4 : (tensor<index>, tensor<index>) -> tensor<i1>
  // [min(b, c), max(B, C)], or the branch that is taken; of a minimum no more than either
  // CHECK: tg.where %lt, %a, %b {{.*}}tg.min_max = "[-3, 5]"
  %w = tg.where %lt, %a, %b : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  // CHECK: tg.where %lt1, %a, %b {{.*}}tg.min_max = "[-3, 5]"
  %w1 = tg.where %lt1, %a, %b : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>
  // [0, n - 1], of a dynamic n the greatest
  // CHECK: %i = tg.range 0 {{.*}}tg.min_max = "[0, 3]"
  %i = tg.range 0 loop to %c4 : tensor<index>
  // CHECK: %j = tg.range 1 {{.*}}tg.min_max = "[0, 8]"
  %j = tg.range 1 loop to %b : tensor<index>
  // CHECK: tg.cast %a to ui8 {{.*}}tg.min_max = "[0, 255]"
  %u8 = tg.cast %a to ui8 : tensor<index> -> tensor<ui8>
  // CHECK: tg.cast %b to i8 {{.*}}tg.min_max = "[2, 9]"
  %i8 = tg.cast %b to i8 : tensor<index> -> tensor<i8>
  // where the ends could wrap, the dtype's range
  // CHECK: tg.mul %i8, %c100 {{.*}}tg.min_max = "[-128, 127]"
  %c100 = tg.const 100 : tensor<i8>
  %wrap = tg.mul %i8, %c100 : tensor<i8>
  // CHECK: tg.sink
  %s = tg.sink %o : tensor<8xf32, #tg.place<global>>
}

// CHECK-LABEL: @cells
func.func @cells(%x: tensor<4xf32>, %i: tensor<index> {tg.min = 0 : index, tg.max = 3 : index}, %j: tensor<index>) {
  %h = tg.const 0.5 : tensor<f32>
  // CHECK: tg.sin %x {{.*}}tg.min_max = "[-1.0, 1.0] or nan"
  %s = tg.sin %x : tensor<4xf32>
  // an index that is in range shows the source's cells, any other may read 0
  %e = tg.max %h, %h : tensor<f32>
  // CHECK: tg.reshape %e [1] {{.*}}tg.min_max = "[0.5, 0.5]"
  %r = tg.reshape %e [1] : tensor<f32> -> tensor<1xf32>
  // CHECK: tg.expand %r [4] {{.*}}tg.min_max = "[0.5, 0.5]"
  %f = tg.expand %r [4] : tensor<1xf32> -> tensor<4xf32>
  // CHECK: tg.index %f[%i] {{.*}}tg.min_max = "[0.5, 0.5]"
  %0 = tg.index %f[%i] : (tensor<4xf32>, tensor<index>) -> tensor<f32>
  // CHECK: tg.index %f[%j] {{.*}}tg.min_max = "[0, 0.5]"
  %1 = tg.index %f[%j] : (tensor<4xf32>, tensor<index>) -> tensor<f32>
  // CHECK: tg.pad %f {{.*}}fill 2.000000e+00 : f32 {{.*}}tg.min_max = "[0.5, 2.0]"
  %2 = tg.pad %f at [1] to [6] fill 2.0 : f32 : tensor<4xf32> -> tensor<6xf32>
  // CHECK: tg.pad %f {{.*}}tg.min_max = "[0.5, 0.5]"
  %3 = tg.pad %f at [1] to [6] : tensor<4xf32> -> tensor<6xf32>
  // CHECK: tg.contiguous %{{.*}}tg.min_max = "[0, 0.5]"
  %4 = tg.contiguous %3 : tensor<6xf32>
  // CHECK: tg.reduce add %f {{.*}}tg.min_max = "[-inf, inf] or nan"
  %5 = tg.reduce add %f [0] : tensor<4xf32> -> tensor<1xf32>
  return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// Elementwise ops inherit the sharding axis; markers keep it.

func.func @unary(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %y: tensor<6x3xf32, #tg.place<["A", "B", "C"], axis = 0>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>, %p: tensor<8xi1, #tg.place<["A", "B", "C", "D"], axis = 0>>) {
  // CHECK: %recip = tg.recip %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %recip = tg.recip %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %trunc = tg.trunc %y : tensor<6x3xf32, #tg.place<["A", "B", "C"], axis = 0>>
  %trunc = tg.trunc %y : tensor<6x3xf32, #tg.place<["A", "B", "C"], axis = 0>>
  // CHECK: %neg = tg.neg %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %neg = tg.neg %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %exp2 = tg.exp2 %y : tensor<6x3xf32, #tg.place<["A", "B", "C"], axis = 0>>
  %exp2 = tg.exp2 %y : tensor<6x3xf32, #tg.place<["A", "B", "C"], axis = 0>>
  // CHECK: %log2 = tg.log2 %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %log2 = tg.log2 %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %sin = tg.sin %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %sin = tg.sin %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %exp = tg.exp %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %exp = tg.exp %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %log = tg.log %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %log = tg.log %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %log10 = tg.log10 %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %log10 = tg.log10 %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %expm1 = tg.expm1 %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %expm1 = tg.expm1 %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %log1p = tg.log1p %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %log1p = tg.log1p %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %cos = tg.cos %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %cos = tg.cos %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %erf = tg.erf %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %erf = tg.erf %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %erfc = tg.erfc %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %erfc = tg.erfc %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %gelu = tg.gelu %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %gelu = tg.gelu %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %softplus = tg.softplus %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %softplus = tg.softplus %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %sqrt = tg.sqrt %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %sqrt = tg.sqrt %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %not = tg.not %p : tensor<8xi1, #tg.place<["A", "B", "C", "D"], axis = 0>>
  %not = tg.not %p : tensor<8xi1, #tg.place<["A", "B", "C", "D"], axis = 0>>
  // CHECK: %memory = tg.neg %m : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %memory = tg.neg %m : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>> -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.neg %r : tensor<4x6xf32, #tg.place<["A", "B"]>>
  %replicated = tg.neg %r : tensor<4x6xf32, #tg.place<["A", "B"]>>
  func.return
}

func.func @cast(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>>, %p: tensor<8xi1, #tg.place<["A", "B", "C", "D"], axis = 0>>) {
  // CHECK: %narrower = tg.cast %x to i8 : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xi8, #tg.place<["A", "B"], axis = 1>>
  %narrower = tg.cast %x to i8 : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>> -> tensor<4x6xi8, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %memory = tg.cast %m to f64 : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x6xf64, #tg.place<["A", "B"], axis = 0>>
  %memory = tg.cast %m to f64 : tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 0>> -> tensor<4x6xf64, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %number = tg.cast %p to f32 : tensor<8xi1, #tg.place<["A", "B", "C", "D"], axis = 0>> -> tensor<8xf32, #tg.place<["A", "B", "C", "D"], axis = 0>>
  %number = tg.cast %p to f32 : tensor<8xi1, #tg.place<["A", "B", "C", "D"], axis = 0>> -> tensor<8xf32, #tg.place<["A", "B", "C", "D"], axis = 0>>
  func.return
}

// Beside a sharded operand, one may be sharded on the same axis, replicated, or on no device.

func.func @binary(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %m: tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>, %mr: tensor<4x6xf32, #tg.place<["A", "B"], global>>, %anonymous: tensor<4x6xf32>, %c: tensor<f32>, %cr: tensor<f32, #tg.place<["A", "B"]>>) {
  // CHECK: %both = tg.add %x, %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %both = tg.add %x, %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated = tg.mul %x, %r : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %replicated = tg.mul %x, %r : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %sharded_second = tg.max %r, %x : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %sharded_second = tg.max %r, %x : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %no_device = tg.sub %x, %anonymous : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %no_device = tg.sub %x, %anonymous : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %scalar = tg.div %c, %x : (tensor<f32>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %scalar = tg.div %c, %x : (tensor<f32>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %replicated_scalar = tg.pow %x, %cr : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %replicated_scalar = tg.pow %x, %cr : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %gate = tg.gate %x, %cr : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %gate = tg.gate %x, %cr : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %memory = tg.add %m, %mr : (tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"], global>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %memory = tg.add %m, %mr : (tensor<4x6xf32, #tg.place<["A", "B"], global, axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"], global>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %none_sharded = tg.add %r, %anonymous : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32>) -> tensor<4x6xf32, #tg.place<["A", "B"]>>
  %none_sharded = tg.add %r, %anonymous : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32>) -> tensor<4x6xf32, #tg.place<["A", "B"]>>
  func.return
}

func.func @integers(%x: tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>, %r: tensor<9x2xi32, #tg.place<["A", "B", "C"]>>, %c: tensor<i32>, %key: tensor<8xui64, #tg.place<["A", "B", "C", "D"], axis = 0>>, %counter: tensor<ui64>) {
  // CHECK: %mod = tg.mod %x, %r : (tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>, tensor<9x2xi32, #tg.place<["A", "B", "C"]>>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  %mod = tg.mod %x, %r : (tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>, tensor<9x2xi32, #tg.place<["A", "B", "C"]>>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  // CHECK: %idiv = tg.idiv %r, %x : (tensor<9x2xi32, #tg.place<["A", "B", "C"]>>, tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  %idiv = tg.idiv %r, %x : (tensor<9x2xi32, #tg.place<["A", "B", "C"]>>, tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  // CHECK: %xor = tg.xor %x, %x : tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  %xor = tg.xor %x, %x : tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  // CHECK: %or = tg.or %x, %c : (tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>, tensor<i32>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  %or = tg.or %x, %c : (tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>, tensor<i32>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  // CHECK: %and = tg.and %c, %x : (tensor<i32>, tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  %and = tg.and %c, %x : (tensor<i32>, tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  // CHECK: %shr = tg.shr %x, %r : (tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>, tensor<9x2xi32, #tg.place<["A", "B", "C"]>>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  %shr = tg.shr %x, %r : (tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>, tensor<9x2xi32, #tg.place<["A", "B", "C"]>>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  // CHECK: %shl = tg.shl %c, %x : (tensor<i32>, tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  %shl = tg.shl %c, %x : (tensor<i32>, tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>) -> tensor<9x2xi32, #tg.place<["A", "B", "C"], axis = 0>>
  // CHECK: %threefry = tg.threefry %counter, %key : (tensor<ui64>, tensor<8xui64, #tg.place<["A", "B", "C", "D"], axis = 0>>) -> tensor<8xui64, #tg.place<["A", "B", "C", "D"], axis = 0>>
  %threefry = tg.threefry %counter, %key : (tensor<ui64>, tensor<8xui64, #tg.place<["A", "B", "C", "D"], axis = 0>>) -> tensor<8xui64, #tg.place<["A", "B", "C", "D"], axis = 0>>
  func.return
}

func.func @comparisons(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>, %c: tensor<f32>) {
  // CHECK: %lt = tg.cmplt %x, %x : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>
  %lt = tg.cmplt %x, %x : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %ne = tg.cmpne %x, %r : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>
  %ne = tg.cmpne %x, %r : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %gt = tg.cmpgt %r, %x : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>
  %gt = tg.cmpgt %r, %x : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %ge = tg.cmpge %x, %c : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>
  %ge = tg.cmpge %x, %c : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<f32>) -> tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %le = tg.cmple %c, %x : (tensor<f32>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>
  %le = tg.cmple %c, %x : (tensor<f32>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %eq = tg.cmpeq %r, %c : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<f32>) -> tensor<4x6xi1, #tg.place<["A", "B"]>>
  %eq = tg.cmpeq %r, %c : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<f32>) -> tensor<4x6xi1, #tg.place<["A", "B"]>>
  func.return
}

// Axes are aligned from the right, as shapes are.

func.func @broadcast(%x: tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>, %y: tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, %z: tensor<6xf32, #tg.place<["A", "B"], axis = 0>>, %column: tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>, %row: tensor<6xf32>, %rr: tensor<6xf32, #tg.place<["A", "B"]>>, %t: tensor<8x4xf32, #tg.place<["A", "B", "C", "D"], axis = 1>>, %tz: tensor<4xf32, #tg.place<["A", "B", "C", "D"], axis = 0>>) {
  // CHECK: %both = tg.add %x, %y : (tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %both = tg.add %x, %y : (tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<2x4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %lower_rank = tg.mul %z, %rr : (tensor<6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  %lower_rank = tg.mul %z, %rr : (tensor<6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> tensor<6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %with_row = tg.max %y, %rr : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %with_row = tg.max %y, %rr : (tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %outer = tg.sub %column, %with_row : (tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %outer = tg.sub %column, %with_row : (tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %only_lower = tg.add %column, %rr : (tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  %only_lower = tg.add %column, %rr : (tensor<4x1xf32, #tg.place<["A", "B"], axis = 0>>, tensor<6xf32, #tg.place<["A", "B"]>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 0>>
  // CHECK: %on_four = tg.div %tz, %t : (tensor<4xf32, #tg.place<["A", "B", "C", "D"], axis = 0>>, tensor<8x4xf32, #tg.place<["A", "B", "C", "D"], axis = 1>>) -> tensor<8x4xf32, #tg.place<["A", "B", "C", "D"], axis = 1>>
  %on_four = tg.div %tz, %t : (tensor<4xf32, #tg.place<["A", "B", "C", "D"], axis = 0>>, tensor<8x4xf32, #tg.place<["A", "B", "C", "D"], axis = 1>>) -> tensor<8x4xf32, #tg.place<["A", "B", "C", "D"], axis = 1>>
  func.return
}

func.func @ternary(%p: tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>, %pr: tensor<i1, #tg.place<["A", "B"]>>, %x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>, %z: tensor<6xf32, #tg.place<["A", "B"], axis = 0>>, %c: tensor<f32>) {
  // CHECK: %condition = tg.where %p, %r, %c : (tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<f32>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %condition = tg.where %p, %r, %c : (tensor<4x6xi1, #tg.place<["A", "B"], axis = 1>>, tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<f32>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %branches = tg.where %pr, %x, %z : (tensor<i1, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %branches = tg.where %pr, %x, %z : (tensor<i1, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, tensor<6xf32, #tg.place<["A", "B"], axis = 0>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %second = tg.where %pr, %r, %x : (tensor<i1, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %second = tg.where %pr, %r, %x : (tensor<i1, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %whole = tg.where %pr, %r, %c : (tensor<i1, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<f32>) -> tensor<4x6xf32, #tg.place<["A", "B"]>>
  %whole = tg.where %pr, %r, %c : (tensor<i1, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<f32>) -> tensor<4x6xf32, #tg.place<["A", "B"]>>
  // CHECK: %same = tg.mulacc %x, %x, %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %same = tg.mulacc %x, %x, %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %factor = tg.mulacc %r, %z, %c : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<f32>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %factor = tg.mulacc %r, %z, %c : (tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<6xf32, #tg.place<["A", "B"], axis = 0>>, tensor<f32>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %accumulator = tg.mulacc %c, %r, %x : (tensor<f32>, tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %accumulator = tg.mulacc %c, %r, %x : (tensor<f32>, tensor<4x6xf32, #tg.place<["A", "B"]>>, tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>) -> tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  func.return
}

func.func @markers(%x: tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>, %m: tensor<9xf32, #tg.place<["A", "B", "C"], global, axis = 0>>, %r: tensor<4x6xf32, #tg.place<["A", "B"]>>) {
  // CHECK: %contiguous = tg.contiguous %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %contiguous = tg.contiguous %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %contiguous_memory = tg.contiguous %m : tensor<9xf32, #tg.place<["A", "B", "C"], global, axis = 0>>
  %contiguous_memory = tg.contiguous %m : tensor<9xf32, #tg.place<["A", "B", "C"], global, axis = 0>>
  // CHECK: %backward = tg.contiguous_backward %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  %backward = tg.contiguous_backward %x : tensor<4x6xf32, #tg.place<["A", "B"], axis = 1>>
  // CHECK: %detach = tg.detach %m : tensor<9xf32, #tg.place<["A", "B", "C"], global, axis = 0>>
  %detach = tg.detach %m : tensor<9xf32, #tg.place<["A", "B", "C"], global, axis = 0>>
  // CHECK: %replicated = tg.detach %r : tensor<4x6xf32, #tg.place<["A", "B"]>>
  %replicated = tg.detach %r : tensor<4x6xf32, #tg.place<["A", "B"]>>
  func.return
}

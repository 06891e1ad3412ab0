// RUN: tg-opt %s -p 'tg-gradient{entry=add},tg-gradient{entry=sub},tg-gradient{entry=neg},tg-gradient{entry=mul},tg-gradient{entry=mulacc},tg-gradient{entry=recip},tg-gradient{entry=div},tg-gradient{entry=max},tg-gradient{entry=where},tg-gradient{entry=cast},tg-gradient{entry=exp2},tg-gradient{entry=log2},tg-gradient{entry=sin},tg-gradient{entry=cos},tg-gradient{entry=exp},tg-gradient{entry=log},tg-gradient{entry=expm1},tg-gradient{entry=log1p},tg-gradient{entry=softplus},tg-gradient{entry=log10},tg-gradient{entry=erf},tg-gradient{entry=erfc},tg-gradient{entry=gelu},tg-gradient{entry=fmod},tg-gradient{entry=sqrt},tg-gradient{entry=gate},tg-gradient{entry=pow},tg-gradient{entry=logaddexp},tg-gradient{entry=lgamma},tg-gradient{entry=trunc},tg-gradient{entry=broadcast}' --verify-each=true | filecheck %s

// The gradient of each elementwise op; what was broadcast is summed.

// CHECK-LABEL: func.func @add_gradient(
// CHECK-NEXT: func.return %r_gradient, %r_gradient
func.func @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.add %x, %y : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @sub_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.neg %r_gradient
// CHECK-NEXT: func.return %r_gradient, %[[V0]]
func.func @sub(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.sub %x, %y : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @neg_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.neg %r_gradient
// CHECK-NEXT: func.return %[[V0]]
func.func @neg(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.neg %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @mul_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.mul %r_gradient, %y
// CHECK-NEXT: %[[V1:.*]] = tg.mul %r_gradient, %x
// CHECK-NEXT: func.return %[[V0]], %[[V1]]
func.func @mul(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.mul %x, %y : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @mulacc_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.mul %r_gradient, %y
// CHECK-NEXT: %[[V1:.*]] = tg.mul %r_gradient, %x
// CHECK-NEXT: func.return %[[V0]], %[[V1]], %r_gradient
func.func @mulacc(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.mulacc %x, %y, %z : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @recip_gradient(
// CHECK-NEXT: %r = tg.recip %x
// CHECK-NEXT: %[[V0:.*]] = tg.mul %r, %r
// CHECK-NEXT: %[[V1:.*]] = tg.mul %r_gradient, %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.neg %[[V1]]
// CHECK-NEXT: func.return %[[V2]]
func.func @recip(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.recip %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @div_gradient(
// CHECK-NEXT: %r = tg.div %x, %y
// CHECK-NEXT: %[[V0:.*]] = tg.div %r_gradient, %y
// CHECK-NEXT: %[[V1:.*]] = tg.mul %[[V0]], %r
// CHECK-NEXT: %[[V2:.*]] = tg.neg %[[V1]]
// CHECK-NEXT: func.return %[[V0]], %[[V2]]
func.func @div(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.div %x, %y : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @max_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 5.000000e-01
// CHECK-NEXT: %[[V1:.*]] = tg.mul %r_gradient, %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.const 0.000000e+00
// CHECK-NEXT: %[[V3:.*]] = tg.cmpeq %x, %y
// CHECK-NEXT: %[[V4:.*]] = tg.where %[[V3]], %[[V1]], %r_gradient
// CHECK-NEXT: %[[V5:.*]] = tg.cmplt %x, %y
// CHECK-NEXT: %[[V6:.*]] = tg.where %[[V5]], %[[V2]], %[[V4]]
// CHECK-NEXT: %[[V7:.*]] = tg.cmplt %y, %x
// CHECK-NEXT: %[[V8:.*]] = tg.where %[[V7]], %[[V2]], %[[V4]]
// CHECK-NEXT: func.return %[[V6]], %[[V8]]
func.func @max(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.max %x, %y : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @where_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0.000000e+00
// CHECK-NEXT: %[[V1:.*]] = tg.where %p, %r_gradient, %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.where %p, %[[V0]], %r_gradient
// CHECK-NEXT: func.return %[[V1]], %[[V2]]
func.func @where(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.where %p, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @cast_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.cast %r_gradient to f16
// CHECK-NEXT: func.return %[[V0]]
func.func @cast(%x: tensor<4xf16>) -> tensor<4xf32> {
  %r = tg.cast %x to f32 : tensor<4xf16> -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @exp2_gradient(
// CHECK-NEXT: %r = tg.exp2 %x
// CHECK-NEXT: %[[V0:.*]] = tg.const 0.693147182
// CHECK-NEXT: %[[V1:.*]] = tg.mul %r, %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.mul %r_gradient, %[[V1]]
// CHECK-NEXT: func.return %[[V2]]
func.func @exp2(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.exp2 %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @log2_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0.693147182
// CHECK-NEXT: %[[V1:.*]] = tg.mul %x, %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.div %r_gradient, %[[V1]]
// CHECK-NEXT: func.return %[[V2]]
func.func @log2(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.log2 %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @sin_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.cos %x
// CHECK-NEXT: %[[V1:.*]] = tg.mul %r_gradient, %[[V0]]
// CHECK-NEXT: func.return %[[V1]]
func.func @sin(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.sin %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @cos_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.sin %x
// CHECK-NEXT: %[[V1:.*]] = tg.mul %r_gradient, %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.neg %[[V1]]
// CHECK-NEXT: func.return %[[V2]]
func.func @cos(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.cos %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @exp_gradient(
// CHECK-NEXT: %r = tg.exp %x
// CHECK-NEXT: %[[V0:.*]] = tg.mul %r_gradient, %r
// CHECK-NEXT: func.return %[[V0]]
func.func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.exp %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @log_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.div %r_gradient, %x
// CHECK-NEXT: func.return %[[V0]]
func.func @log(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.log %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @log10_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 2.30258512
// CHECK-NEXT: %[[V1:.*]] = tg.mul %x, %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.div %r_gradient, %[[V1]]
// CHECK-NEXT: func.return %[[V2]]
func.func @log10(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.log10 %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @expm1_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.exp %x
// CHECK-NEXT: %[[V1:.*]] = tg.mul %r_gradient, %[[V0]]
// CHECK-NEXT: func.return %[[V1]]
func.func @expm1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.expm1 %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @log1p_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 1.000000e+00
// CHECK-NEXT: %[[V1:.*]] = tg.add %x, %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.div %r_gradient, %[[V1]]
// CHECK-NEXT: func.return %[[V2]]
func.func @log1p(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.log1p %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @softplus_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 1.000000e+00
// CHECK-NEXT: %[[V1:.*]] = tg.gate %[[V0]], %x
// CHECK-NEXT: %[[V2:.*]] = tg.mul %r_gradient, %[[V1]]
// CHECK-NEXT: func.return %[[V2]]
func.func @softplus(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.softplus %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @erf_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.mul %x, %x
// CHECK-NEXT: %[[V1:.*]] = tg.neg %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.exp %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = tg.const 1.12837923 : tensor<f32>
// CHECK-NEXT: %[[V4:.*]] = tg.mul %[[V2]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = tg.mul %r_gradient, %[[V4]]
// CHECK-NEXT: func.return %[[V5]]
func.func @erf(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.erf %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @erfc_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.mul %x, %x
// CHECK-NEXT: %[[V1:.*]] = tg.neg %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.exp %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = tg.const -1.12837923 : tensor<f32>
// CHECK-NEXT: %[[V4:.*]] = tg.mul %[[V2]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = tg.mul %r_gradient, %[[V4]]
// CHECK-NEXT: func.return %[[V5]]
func.func @erfc(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.erfc %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @gelu_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 5.000000e-01
// CHECK-NEXT: %[[V1:.*]] = tg.const -0.707106769 : tensor<f32>
// CHECK-NEXT: %[[V2:.*]] = tg.mul %x, %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = tg.erfc %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = tg.mul %[[V3]], %[[V0]]
// CHECK-NEXT: %[[V5:.*]] = tg.mul %x, %x
// CHECK-NEXT: %[[V6:.*]] = tg.mul %[[V5]], %[[V0]]
// CHECK-NEXT: %[[V7:.*]] = tg.neg %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = tg.const 0.398942292 : tensor<f32>
// CHECK-NEXT: %[[V9:.*]] = tg.mul %x, %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = tg.exp %[[V7]]
// CHECK-NEXT: %[[V11:.*]] = tg.mulacc %[[V10]], %[[V9]], %[[V4]]
// CHECK-NEXT: %[[V12:.*]] = tg.mul %r_gradient, %[[V11]]
// CHECK-NEXT: func.return %[[V12]]
func.func @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.gelu %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @fmod_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.div %x, %y
// CHECK-NEXT: %[[V1:.*]] = tg.trunc %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.mul %r_gradient, %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = tg.neg %[[V2]]
// CHECK-NEXT: func.return %r_gradient, %[[V3]]
func.func @fmod(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.fmod %x, %y : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @sqrt_gradient(
// CHECK-NEXT: %r = tg.sqrt %x
// CHECK-NEXT: %[[V0:.*]] = tg.const 2.000000e+00
// CHECK-NEXT: %[[V1:.*]] = tg.mul %r, %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = tg.div %r_gradient, %[[V1]]
// CHECK-NEXT: func.return %[[V2]]
func.func @sqrt(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.sqrt %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @gate_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 1.000000e+00
// CHECK-NEXT: %[[V1:.*]] = tg.const 0.000000e+00
// CHECK-NEXT: %[[V2:.*]] = tg.cmplt %t, %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = tg.neg %t
// CHECK-NEXT: %[[V4:.*]] = tg.where %[[V2]], %t, %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = tg.gate %[[V0]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = tg.sub %[[V0]], %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = tg.where %[[V2]], %[[V5]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = tg.mul %r_gradient, %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = tg.mul %[[V6]], %x
// CHECK-NEXT: %[[V10:.*]] = tg.mul %[[V5]], %[[V9]]
// CHECK-NEXT: %[[V11:.*]] = tg.mul %r_gradient, %[[V10]]
// CHECK-NEXT: func.return %[[V8]], %[[V11]]
func.func @gate(%x: tensor<4xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.gate %x, %t : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @pow_gradient(
// CHECK-NEXT: %r = tg.pow %x, %y
// CHECK-NEXT: %[[V0:.*]] = tg.const 0.000000e+00
// CHECK-NEXT: %[[V1:.*]] = tg.const 1.000000e+00
// CHECK-NEXT: %[[V2:.*]] = tg.sub %y, %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = tg.pow %x, %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = tg.mul %y, %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = tg.mul %r_gradient, %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = tg.cmpeq %y, %[[V0]]
// CHECK-NEXT: %[[V7:.*]] = tg.where %[[V6]], %[[V0]], %[[V5]]
// CHECK-NEXT: %[[V8:.*]] = tg.log %x
// CHECK-NEXT: %[[V9:.*]] = tg.mul %r, %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = tg.mul %r_gradient, %[[V9]]
// CHECK-NEXT: %[[V11:.*]] = tg.cmpeq %x, %[[V0]]
// CHECK-NEXT: %[[V12:.*]] = tg.cmpge %y, %[[V0]]
// CHECK-NEXT: %[[V13:.*]] = tg.and %[[V11]], %[[V12]]
// CHECK-NEXT: %[[V14:.*]] = tg.where %[[V13]], %[[V0]], %[[V10]]
// CHECK-NEXT: func.return %[[V7]], %[[V14]]
func.func @pow(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.pow %x, %y : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @logaddexp_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0.000000e+00
// CHECK-NEXT: %[[V1:.*]] = tg.const 1.000000e+00
// CHECK-NEXT: %[[V2:.*]] = tg.sub %x, %y
// CHECK-NEXT: %[[V3:.*]] = tg.cmpeq %x, %y
// CHECK-NEXT: %[[V4:.*]] = tg.where %[[V3]], %[[V0]], %[[V2]]
// CHECK-NEXT: %[[V5:.*]] = tg.cmplt %[[V4]], %[[V0]]
// CHECK-NEXT: %[[V6:.*]] = tg.neg %[[V4]]
// CHECK-NEXT: %[[V7:.*]] = tg.where %[[V5]], %[[V4]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = tg.gate %[[V1]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = tg.sub %[[V1]], %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = tg.where %[[V5]], %[[V8]], %[[V9]]
// CHECK-NEXT: %[[V11:.*]] = tg.mul %r_gradient, %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = tg.where %[[V5]], %[[V9]], %[[V8]]
// CHECK-NEXT: %[[V13:.*]] = tg.mul %r_gradient, %[[V12]]
// CHECK-NEXT: func.return %[[V11]], %[[V13]]
func.func @logaddexp(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.logaddexp %x, %y : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// The derivative is that of the approximation.
// CHECK-LABEL: func.func @lgamma_gradient(
// CHECK:      func.return %[[V0:.*]], %r_gradient
func.func @lgamma(%x: tensor<4xf32>, %approximation: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.lgamma %x, %approximation : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @trunc_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.const 0.000000e+00
// CHECK-NEXT: %[[V1:.*]] = tg.reshape %[[V0]] [1]
// CHECK-NEXT: %[[V2:.*]] = tg.expand %[[V1]] [4]
// CHECK-NEXT: func.return %[[V2]]
func.func @trunc(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tg.trunc %x : tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @broadcast_gradient(
// CHECK-NEXT: %[[V0:.*]] = tg.mul %r_gradient, %y
// CHECK-NEXT: %[[V1:.*]] = tg.mul %r_gradient, %x
// CHECK-NEXT: %[[V2:.*]] = tg.reduce add %[[V1]] [0]
// CHECK-NEXT: %[[V3:.*]] = tg.reshape %[[V2]] [4]
// CHECK-NEXT: func.return %[[V0]], %[[V3]]
func.func @broadcast(%x: tensor<3x4xf32>, %y: tensor<4xf32>) -> tensor<3x4xf32> {
  %r = tg.mul %x, %y : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %r : tensor<3x4xf32>
}

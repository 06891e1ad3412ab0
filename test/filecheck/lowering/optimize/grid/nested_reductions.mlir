// RUN: tg-opt %s -p 'tg-optimize{mode=heuristic},tg-verify{level=kernels}' | filecheck %s

// A reduction inside of another one's steps: work items share the outer one's alone. Both would make
// more work items than a workgroup may have.

// CHECK: tg.range 4 group_reduce to
// CHECK: opts [#tg.opt<split 1, 4, unroll>, #tg.opt<split 1, 256, group_reduce>]

module attributes {tg.target = #tg.target<"opencl">} {
tg.kernel @k {
  %out = tg.param 0 : tensor<4xf32, #tg.place<global>>
  %x = tg.param 1 : tensor<4096xf32, #tg.place<global>>
  %y = tg.param 2 : tensor<4xf32, #tg.place<global>>
  %c4 = tg.const 4 : tensor<index>
  %c4096 = tg.const 4096 : tensor<index>
  %i = tg.range 0 loop to %c4 : tensor<index>
  %j = tg.range 1 reduce to %c4096 : tensor<index>
  %k = tg.range 2 reduce to %c4096 : tensor<index>
  %jl = tg.index %x[%j] : (tensor<4096xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %jv = tg.load %jl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %kl = tg.index %x[%k] : (tensor<4096xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %kv = tg.load %kl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %yl = tg.index %y[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %yv = tg.load %yl : tensor<f32, #tg.place<global>> -> tensor<f32>
  %jy = tg.mul %jv, %yv : tensor<f32>
  %p = tg.mul %jy, %kv : tensor<f32>
  %m = tg.reduce max %p [] over %k : tensor<f32> -> tensor<f32>
  %s = tg.reduce add %m [] over %j : tensor<f32> -> tensor<f32>
  %ol = tg.index %out[%i] : (tensor<4xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %st = tg.store %ol, %s : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %st over %i : !tg.void
  %sink = tg.sink %e : !tg.void
}
}

// RUN: tg-opt %s -p 'tg-padto{axis=0 multiple=16},tg-verify{level=kernels}' | filecheck %s

// A padded iteration fills a buffer that it has for itself: what it reads there has to be written.
// It stores no result.

// CHECK: %[[IN:.*]] = tg.cmplt %i,
// CHECK: tg.store %rl, %x : tensor<f32, #tg.place<local>>, tensor<f32>
// CHECK: tg.store %{{.*}}, %{{.*}} gate %[[IN]]

module attributes {tg.target = #tg.target<"opencl">} {
tg.kernel @f {
  %out = tg.param 0 : tensor<60xf32, #tg.place<global>>
  %a = tg.param 1 : tensor<60x512xf32, #tg.place<global>>
  %row = tg.buffer 0 : tensor<512xf32, #tg.place<local>>
  %c60 = tg.const 60 : tensor<index>
  %c512 = tg.const 512 : tensor<index>
  %i = tg.range 0 global to %c60 : tensor<index>
  %j = tg.range 1 loop to %c512 : tensor<index>
  %k = tg.range 2 reduce to %c512 : tensor<index>
  %al = tg.index %a[%i, %j] : (tensor<60x512xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %av = tg.load %al : tensor<f32, #tg.place<global>> -> tensor<f32>
  %x = tg.exp2 %av : tensor<f32>
  %own = tg.after %row, %i : (tensor<512xf32, #tg.place<local>>, tensor<index>) -> tensor<512xf32, #tg.place<local>>
  %rl = tg.index %own[%j] : (tensor<512xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
  %s = tg.store %rl, %x : tensor<f32, #tg.place<local>>, tensor<f32>
  %e = tg.end %s over %j : !tg.void
  %full = tg.after %own, %e : (tensor<512xf32, #tg.place<local>>, !tg.void) -> tensor<512xf32, #tg.place<local>>
  %kl = tg.index %full[%k] : (tensor<512xf32, #tg.place<local>>, tensor<index>) -> tensor<f32, #tg.place<local>>
  %kv = tg.load %kl : tensor<f32, #tg.place<local>> -> tensor<f32>
  %r = tg.reduce add %kv [] over %k : tensor<f32> -> tensor<f32>
  %ol = tg.index %out[%i] : (tensor<60xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %t = tg.store %ol, %r : tensor<f32, #tg.place<global>>, tensor<f32>
  %f = tg.end %t over %i : !tg.void
  %sink = tg.sink %f : !tg.void
}
}

// RUN: tg-opt %s -p 'tg-split{axis=0 factor=4 target=local},tg-verify{level=kernels}' | filecheck %s
// RUN: not tg-opt %s -p 'tg-split{axis=0 factor=64 target=local}' 2>&1 | filecheck %s --check-prefix=FIT

// SPLIT to LOCAL of the loop around a LOCAL buffer: each work item has a row of the buffer. The rows
// lie one after another.

// CHECK: tg.buffer 0 : tensor<4x512xf32, #tg.place<local>>
// CHECK: %[[OWN:[0-9]+]] = tg.range 3 local to
// CHECK: tg.index %{{.*}}[%[[OWN]], %j]
// CHECK: tg.index %{{.*}}[%[[OWN]], %k]
// CHECK: opts [#tg.opt<split 0, 4, local>]

// FIT: buffers of 131072 bytes do not fit into LOCAL memory

module attributes {tg.target = #tg.target<"opencl">} {
tg.kernel @f {
  %out = tg.param 0 : tensor<64xf32, #tg.place<global>>
  %a = tg.param 1 : tensor<64x512xf32, #tg.place<global>>
  %row = tg.buffer 0 : tensor<512xf32, #tg.place<local>>
  %c64 = tg.const 64 : tensor<index>
  %c512 = tg.const 512 : tensor<index>
  %i = tg.range 0 global to %c64 : tensor<index>
  %j = tg.range 1 loop to %c512 : tensor<index>
  %k = tg.range 2 reduce to %c512 : tensor<index>
  %al = tg.index %a[%i, %j] : (tensor<64x512xf32, #tg.place<global>>, tensor<index>, tensor<index>) -> tensor<f32, #tg.place<global>>
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
  %ol = tg.index %out[%i] : (tensor<64xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %t = tg.store %ol, %r : tensor<f32, #tg.place<global>>, tensor<f32>
  %f = tg.end %t over %i : !tg.void
  %sink = tg.sink %f : !tg.void
}
}

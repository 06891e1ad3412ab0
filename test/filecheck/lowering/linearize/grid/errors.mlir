// RUN: tg-opt %s -p tg-linearize --split-input-file --verify-diagnostics

// More work items than a workgroup of the target may have.

module attributes {tg.target = #tg.target<"opencl", workgroup = 8>} {
tg.kernel @k {
  %o = tg.param 0 : tensor<16xf32, #tg.place<global>>
  %n = tg.const 16 : tensor<index>
  // expected-error@below {{a workgroup has 16 work items, and the target opencl allows 8}}
  %i = tg.range 0 local to %n : tensor<index>
  %x = tg.const 1.0 : tensor<f32>
  %c = tg.index %o[%i] : (tensor<16xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %c, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}
}

// -----

// A BARRIER of the kernel that not all work items would reach.

module attributes {tg.target = #tg.target<"opencl">} {
tg.kernel @k {
  %o = tg.param 0 : tensor<8xf32, #tg.place<global>>
  %eight = tg.const 8 : tensor<index>
  %three = tg.const 3 : tensor<index>
  %x = tg.const 1.0 : tensor<f32>
  %i = tg.range 0 local to %eight : tensor<index>
  %c = tg.index %o[%i] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %s = tg.store %c, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %j = tg.range 1 local to %three : tensor<index>
  %d = tg.index %o[%j] : (tensor<8xf32, #tg.place<global>>, tensor<index>) -> tensor<f32, #tg.place<global>>
  %t = tg.store %d, %x : tensor<f32, #tg.place<global>>, tensor<f32>
  // expected-error@below {{a barrier is in the loop of range 1, which has fewer iterations than its workgroup has work items: not all of them reach it}}
  %b = tg.barrier %t : !tg.void
  %u = tg.end %b over %j : !tg.void
  tg.sink %e, %u : !tg.void, !tg.void
}
}

// RUN: tg-run %s --input 1,2,3,4,5,6,7,8,9,10,11,12 --target interpreter | filecheck %s
// RUN: tg-run %s --input 1,2,3,4,5,6,7,8,9,10,11,12 --target cpu | filecheck %s

// In a graph an accumulator names its loops. It begins anew in each iteration of the loops around
// them, also where it is no reduction: a = a / 2 + x.

// CHECK: dense<[6.25, 13.75, 21.25]> : tensor<3xf32>

tg.kernel @k {
  %o = tg_legacy.define_global 0 : tensor<3xf32, #tg.place<global>>
  %x = tg_legacy.define_global 1 : tensor<12xf32, #tg.place<global>>
  %zero = tg.const 0 : tensor<i32>
  %three = tg.const 3 : tensor<i32>
  %four = tg.const 4 : tensor<i32>
  %i = tg_legacy.range 0 from %zero to %three : tensor<i32>
  %j = tg_legacy.range 1 from %zero to %four : tensor<i32>
  %init = tg.const 2.0 : tensor<f32>
  %half = tg.const 0.5 : tensor<f32>
  %acc = tg_legacy.define_acc 0 from %init over %j : (tensor<f32>, tensor<i32>) -> tensor<f32>
  %r = tg.mul %i, %four : tensor<i32>
  %p = tg.add %r, %j : tensor<i32>
  %loc = tg_legacy.index %x, %p : (tensor<12xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  %v = tg_legacy.load %loc : tensor<f32, #tg.place<global>> -> tensor<f32>
  %h = tg.mul %acc, %half : tensor<f32>
  %n = tg.add %h, %v : tensor<f32>
  %a = tg_legacy.assign %acc, %n : tensor<f32>
  %lo = tg_legacy.index %o, %i : (tensor<3xf32, #tg.place<global>>, tensor<i32>) -> tensor<f32, #tg.place<global>>
  %s = tg_legacy.store %lo value %a : tensor<f32, #tg.place<global>> value tensor<f32>
  %k = tg.sink %s : !tg.void
}

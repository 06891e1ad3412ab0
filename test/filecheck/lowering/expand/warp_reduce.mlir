// RUN: tg-opt %s -p tg-expand --verify-each=true | filecheck %s
// RUN: tg-opt %s -p tg-expand,tg-select,tg-linearize --verify-each=true | filecheck %s --check-prefix=LINEAR
// RUN: sed 's/nvidia:sm_90/opencl/' %s | tg-opt -p tg-expand --verify-each=true | filecheck %s --check-prefix=NONE

// GROUP_REDUCE on a grid whose work items can read each other's registers. On a target without shuffles parts are exchanged in
// LOCAL memory.

// NONE-NOT: tg.shuffle

#g = #tg.place<global>
module attributes {tg.target = #tg.target<"nvidia:sm_90">} {

// Two rows of 16 work items are a warp. Each work item gets the total of its row, in a register: no LOCAL memory, no BARRIER.

// CHECK-LABEL: tg.kernel @rows
// CHECK-NOT:     local>
// CHECK:         tg.range 0 local to
// CHECK:         %k = tg.range 1 local to %n16
// CHECK:         [[S1:%.+]] = tg.shuffle [[P:%.+]] xor 1 of 32
// CHECK-NEXT:    [[T1:%.+]] = tg.add [[P]], [[S1]]
// CHECK-NEXT:    [[S2:%.+]] = tg.shuffle [[T1]] xor 2 of 32
// CHECK-NEXT:    [[T2:%.+]] = tg.add [[T1]], [[S2]]
// CHECK-NEXT:    [[S4:%.+]] = tg.shuffle [[T2]] xor 4 of 32
// CHECK-NEXT:    [[T4:%.+]] = tg.add [[T2]], [[S4]]
// CHECK-NEXT:    [[S8:%.+]] = tg.shuffle [[T4]] xor 8 of 32
// CHECK-NEXT:    [[T8:%.+]] = tg.add [[T4]], [[S8]]
// CHECK:         [[R:%.+]] = tg.buffer 0 : tensor<f32, #tg.place<reg>>
// CHECK:         [[V:%.+]] = tg.after [[R]], %i
// CHECK:         [[S:%.+]] = tg.store [[V]], [[T8]]
// CHECK-NEXT:    [[E:%.+]] = tg.end [[S]] over %k
// CHECK-NEXT:    tg.after [[R]], [[E]]

// LINEAR-LABEL: tg.program @rows
// LINEAR-NOT:     local>
// LINEAR:         tg.shuffle {{.*}} xor 8 of 32
// LINEAR-NOT:     tg.barrier
// LINEAR:         tg.sink
tg.kernel @rows {
  %o = tg.param 0 : tensor<2xf32, #g>
  %a = tg.param 1 : tensor<2x16xf32, #g>
  %n2 = tg.const 2 : tensor<index>
  %n16 = tg.const 16 : tensor<index>
  %i = tg.range 0 local to %n2 : tensor<index>
  %k = tg.range 1 group_reduce to %n16 : tensor<index>
  %al = tg.index %a[%i, %k] : (tensor<2x16xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %av = tg.load %al : tensor<f32, #g> -> tensor<f32>
  %r = tg.reduce add %av [] over %k : tensor<f32> -> tensor<f32>
  %ol = tg.index %o[%i] : (tensor<2xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %r : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e opts [] : !tg.void
}

// 256 work items: one of each warp stores the maximum of its warp, and 8 of these are loaded as vectors.

// CHECK-LABEL: tg.kernel @max256
// CHECK-COUNT-5: tg.shuffle
// CHECK:         [[M:%.+]] = tg.mod %k,
// CHECK:         [[G:%.+]] = tg.cmpeq [[M]],
// CHECK:         [[W:%.+]] = tg.idiv %k,
// CHECK:         tg.buffer 0 : tensor<8xf32, #tg.place<local>>
// CHECK:         tg.store {{.*}} gate [[G]]
// CHECK:         tg.reduce max {{.*}} [0]

// LINEAR-LABEL: tg.program @max256
// LINEAR:         tg.shuffle {{.*}} xor 16 of 32
// LINEAR:         tg.if
// LINEAR:         tg.barrier
// LINEAR:         tg.load {{.*}} -> tensor<4xf32>
// LINEAR:         tg.load {{.*}} -> tensor<4xf32>
// LINEAR-NOT:     tg.barrier
// LINEAR:         tg.sink
tg.kernel @max256 {
  %o = tg.param 0 : tensor<1xf32, #g>
  %a = tg.param 1 : tensor<256xf32, #g>
  %n = tg.const 256 : tensor<index>
  %zero = tg.const 0 : tensor<index>
  %k = tg.range 0 group_reduce to %n : tensor<index>
  %al = tg.index %a[%k] : (tensor<256xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %av = tg.load %al : tensor<f32, #g> -> tensor<f32>
  %r = tg.reduce max %av [] over %k : tensor<f32> -> tensor<f32>
  %ol = tg.index %o[%zero] : (tensor<1xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %r : tensor<f32, #g>, tensor<f32>
  tg.sink %s opts [] : !tg.void
}

// 48 work items are no whole warps: through LOCAL memory.

// CHECK-LABEL: tg.kernel @no_warps
// CHECK-NOT:     tg.shuffle
// CHECK:         tg.buffer 0 : tensor<48xf32, #tg.place<local>>
tg.kernel @no_warps {
  %o = tg.param 0 : tensor<1xf32, #g>
  %a = tg.param 1 : tensor<48xf32, #g>
  %n = tg.const 48 : tensor<index>
  %zero = tg.const 0 : tensor<index>
  %k = tg.range 0 group_reduce to %n : tensor<index>
  %al = tg.index %a[%k] : (tensor<48xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %av = tg.load %al : tensor<f32, #g> -> tensor<f32>
  %r = tg.reduce max %av [] over %k : tensor<f32> -> tensor<f32>
  %ol = tg.index %o[%zero] : (tensor<1xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %r : tensor<f32, #g>, tensor<f32>
  tg.sink %s opts [] : !tg.void
}
}

// RUN: tg-opt %s -p tg-expand --verify-each=true | filecheck %s

// GROUP_REDUCE on a grid: the range becomes one over work items, which store their parts to LOCAL memory; after their END the parts
// are reduced.

#g = #tg.place<global>
module attributes {tg.target = #tg.target<"opencl">} {

// 16 parts: each work item reduces all of them.

// CHECK-LABEL: tg.kernel @sum16
// CHECK:         %k = tg.range 1 local to %n16
// CHECK:         [[B:%.+]] = tg.buffer 0 : tensor<16xf32, #tg.place<local>>
// CHECK:         [[V:%.+]] = tg.after [[B]], %i
// CHECK-NEXT:    [[C:%.+]] = tg.index [[V]][%k]
// CHECK-NEXT:    [[S:%.+]] = tg.store [[C]], %av
// CHECK-NEXT:    [[E:%.+]] = tg.end [[S]] over %k
// CHECK-NEXT:    [[P:%.+]] = tg.after [[B]], [[E]]
// CHECK:         [[J:%.+]] = tg.range 2 reduce to
// CHECK-NEXT:    tg.index [[P]][[[J]]]
// CHECK-NOT:     tg.buffer {{.*}}local>
// CHECK:         tg.add
// CHECK:         tg.end {{.*}} over [[J]]
tg.kernel @sum16 {
  %o = tg.param 0 : tensor<4xf32, #g>
  %a = tg.param 1 : tensor<4x16xf32, #g>
  %n4 = tg.const 4 : tensor<index>
  %n16 = tg.const 16 : tensor<index>
  %i = tg.range 0 global to %n4 : tensor<index>
  %k = tg.range 1 group_reduce to %n16 : tensor<index>
  %al = tg.index %a[%i, %k] : (tensor<4x16xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %av = tg.load %al : tensor<f32, #g> -> tensor<f32>
  %r = tg.reduce add %av [] over %k : tensor<f32> -> tensor<f32>
  %ol = tg.index %o[%i] : (tensor<4xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %r : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  tg.sink %e : !tg.void
}

// 256 parts: 16 work items first reduce 16 parts each, with a distance of 16, so that neighbours load neighbours. They exchange
// their results as well.

// CHECK-LABEL: tg.kernel @max256
// CHECK:         %k = tg.range 0 local to %n
// CHECK:         [[B:%.+]] = tg.buffer 0 : tensor<256xf32, #tg.place<local>>
// CHECK:         [[E:%.+]] = tg.end {{.*}} over %k
// CHECK-NEXT:    [[P:%.+]] = tg.after [[B]], [[E]]
// CHECK:         [[ITEM:%.+]] = tg.range 1 local to
// CHECK:         [[J:%.+]] = tg.range 2 reduce to
// CHECK:         [[F:%.+]] = tg.mul [[J]],
// CHECK-NEXT:    [[AT:%.+]] = tg.add [[F]], [[ITEM]]
// CHECK-NEXT:    tg.index [[P]][[[AT]]]
// CHECK:         tg.max
// CHECK:         tg.end {{.*}} over [[J]]
// CHECK:         [[B2:%.+]] = tg.buffer 1 : tensor<16xf32, #tg.place<local>>
// CHECK:         [[E2:%.+]] = tg.end {{.*}} over [[ITEM]]
// CHECK-NEXT:    tg.after [[B2]], [[E2]]
// CHECK:         tg.range 3 reduce to
// CHECK:         tg.max
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
  tg.sink %s : !tg.void
}
}

// RUN: tg-opt %s -p 'tg-padto{axis=0 multiple=256},tg-split{axis=0 factor=256 target=local},tg-verify{level=kernels}' | filecheck %s
// RUN: tg-opt %s -p 'tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=HEURISTIC
// RUN: not tg-opt %s -p 'tg-split{axis=0 factor=256 target=local}' 2>&1 | filecheck %s --check-prefix=DYNAMIC
// RUN: not tg-opt %s -p 'tg-padto{axis=0 multiple=256},tg-split{axis=0 factor=96 target=local}' 2>&1 | filecheck %s --check-prefix=DYNAMIC

// A loop of dynamic extent has whole workgroups: PADTO rounds its extent up, and SPLIT makes work items of the last factor.

// CHECK: %n = tg.param 0 : tensor<index>
// CHECK: %[[LAST:.*]] = tg.sub %n, %{{.*}}
// CHECK: %[[UP:.*]] = tg.add %[[LAST]], %{{.*}}
// CHECK: %[[GROUPS:.*]] = tg.idiv %[[UP]], %{{.*}}
// CHECK: %[[I:.*]] = tg.range 0 global to %[[GROUPS]]
// CHECK: %[[J:.*]] = tg.range 1 local to %{{.*}}
// CHECK: %[[SUM:.*]] = tg.add %{{.*}}, %[[J]]
// CHECK: %[[GATE:.*]] = tg.cmplt %[[SUM]], %n
// CHECK: tg.store %{{.*}}, %{{.*}} gate %[[GATE]]
// CHECK: tg.end %{{.*}} over %[[J]], %[[I]]

// HEURISTIC: opts [#tg.opt<padto 0, 256>, #tg.opt<split 0, 256, local>]

// DYNAMIC: error: pass tg-split: split 0, {{.*}}: the extent of range 0 is dynamic

#g = #tg.place<global>
module attributes {tg.target = #tg.target<"nvidia:sm_90">} {
tg.kernel @double {
  %n = tg.param 0 : tensor<index>
  %o = tg.param 1(%n) : tensor<?xf32, #g>
  %a = tg.param 2(%n) : tensor<?xf32, #g>
  %i = tg.range 0 global to %n : tensor<index>
  %al = tg.index %a[%i] : (tensor<?xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %x = tg.load %al : tensor<f32, #g> -> tensor<f32>
  %y = tg.add %x, %x : tensor<f32>
  %ol = tg.index %o[%i] : (tensor<?xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %y : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %i : !tg.void
  %sink = tg.sink %e : !tg.void
}
}

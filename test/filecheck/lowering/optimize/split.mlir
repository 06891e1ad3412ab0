// RUN: tg-opt %s -p 'tg-split{axis=0 factor=4 target=upcast},tg-verify{level=kernels}' | filecheck %s --check-prefix=INNER
// RUN: tg-opt %s -p 'tg-split{axis=1 factor=8 target=thread top=true},tg-verify{level=kernels}' | filecheck %s --check-prefix=THREAD
// RUN: tg-opt %s -p 'tg-split{axis=2 factor=4 target=group_reduce},tg-split{axis=0 factor=16 target=upcast},tg-verify{level=kernels}' | filecheck %s --check-prefix=WHOLE
// RUN: tg-opt %s -p 'tg-split{axis=1 factor=32 target=upcast},tg-split{axis=1 factor=2 target=loop top=true},tg-verify{level=kernels}' | filecheck %s --check-prefix=LOOP
// RUN: tg-opt %s -p 'tg-split{axis=1 factor=12 target=upcast overlap=true},tg-verify{level=kernels}' | filecheck %s --check-prefix=OVERLAP
// RUN: not tg-opt %s -p 'tg-split{axis=1 factor=8 target=upcast overlap=true}' 2>&1 | filecheck %s --check-prefix=DIVIDES
// RUN: not tg-opt %s -p 'tg-split{axis=2 factor=5 target=group_reduce overlap=true}' 2>&1 | filecheck %s --check-prefix=ONCE
// RUN: not tg-opt %s -p 'tg-split{axis=1 factor=32 target=upcast},tg-split{axis=1 factor=2 target=loop}' 2>&1 | filecheck %s --check-prefix=INSIDE
// RUN: not tg-opt %s -p 'tg-split{axis=0 factor=5 target=upcast}' 2>&1 | filecheck %s --check-prefix=PARTS
// RUN: not tg-opt %s -p 'tg-split{axis=0 factor=4 target=unroll}' 2>&1 | filecheck %s --check-prefix=KIND
// RUN: not tg-opt %s -p 'tg-split{axis=1 factor=8 target=thread}' 2>&1 | filecheck %s --check-prefix=SIDE
// RUN: not tg-opt %s -p 'tg-split{axis=9 factor=8 target=upcast}' 2>&1 | filecheck %s --check-prefix=AXIS
// RUN: not tg-opt %s -p 'tg-split{axis=0 factor=8 target=upcast kernel=f}' 2>&1 | filecheck %s --check-prefix=KERNEL

// SPLIT: n becomes n/k and k. The new part is the inner one, or the outer one with `top`; THREAD goes outside.

// INNER: %{{.*}} = tg.range 0 global to %{{.*}}
// INNER: %{{.*}} = tg.range 3 upcast to %{{.*}}
// INNER: %{{.*}} = tg.mul %{{.*}}, %{{.*}}
// INNER: %{{.*}} = tg.add %{{.*}}, %{{.*}}
// INNER: %j = tg.range 1 global to %c32
// INNER: %k = tg.range 2 reduce to %c8
// INNER: %al = tg.index %a[%{{.*}}, %k]
// INNER: %m = tg.mul %av, %bv
// INNER: %r = tg.reduce add %m [] over %k
// INNER: %e = tg.end %s over %j, %{{.*}}, %{{.*}} : !tg.void
// INNER: %{{.*}} = tg.sink %e opts [#tg.opt<split 0, 4, upcast>]

// THREAD: %i = tg.range 0 global to %c16
// THREAD: %{{.*}} = tg.range 3 thread to %{{.*}}
// THREAD: %{{.*}} = tg.range 1 global to %{{.*}}
// THREAD: %{{.*}} = tg.mul %{{.*}}, %{{.*}}
// THREAD: %{{.*}} = tg.add %{{.*}}, %{{.*}}
// THREAD: %k = tg.range 2 reduce to %c8
// THREAD: %bl = tg.index %b[%k, %{{.*}}]
// THREAD: %m = tg.mul %av, %bv
// THREAD: %r = tg.reduce add %m [] over %k
// THREAD: %e = tg.end %s over %{{.*}}, %i, %{{.*}} : !tg.void
// THREAD: %{{.*}} = tg.sink %e opts [#tg.opt<split 1, 8, thread, top>]

// LOOP: %[[O:.*]] = tg.range 3 loop to
// LOOP: %[[I:.*]] = tg.range 1 upcast to
// LOOP: %e = tg.end %s over %[[I]], %[[O]], %i : !tg.void
// LOOP: opts [#tg.opt<split 1, 32, upcast>, #tg.opt<split 1, 2, loop, top>]

// OVERLAP: %[[N:.*]] = tg.const 3 : tensor<index>
// OVERLAP: %[[W:.*]] = tg.const 12 : tensor<index>
// OVERLAP: %[[O:.*]] = tg.range 1 global to %[[N]]
// OVERLAP: %[[I:.*]] = tg.range 3 upcast to %[[W]]
// OVERLAP: %[[START:.*]] = tg.mul %[[O]], %{{.*}}
// OVERLAP: %[[LAST:.*]] = tg.const 20 : tensor<index>
// OVERLAP: %[[BEFORE:.*]] = tg.cmplt %[[START]], %[[LAST]]
// OVERLAP: %[[FROM:.*]] = tg.where %[[BEFORE]], %[[START]], %[[LAST]]
// OVERLAP: %[[AT:.*]] = tg.add %[[FROM]], %[[I]]
// OVERLAP: %bl = tg.index %b[%k, %[[AT]]]
// OVERLAP: %ol = tg.index %o[%i, %[[AT]]]
// OVERLAP: %s = tg.store %ol, %r : tensor<f32
// OVERLAP: %e = tg.end %s over %[[I]], %[[O]], %i : !tg.void
// OVERLAP: opts [#tg.opt<split 1, 12, upcast, overlap>]

// DIVIDES: error: pass tg-split: split 1, 8, upcast, overlap: parts of 8 of range 1 to 32 do not overlap

// ONCE: error: pass tg-split: split 2, 5, group_reduce, overlap: the iterations of range 2 count once each

// INSIDE: error: pass tg-split: split 1, 2, loop: loop is the outer part

// WHOLE: %i = tg.range 0 upcast to %c16
// WHOLE: %j = tg.range 1 global to %c32
// WHOLE: %{{.*}} = tg.range 2 reduce to %{{.*}}
// WHOLE: %{{.*}} = tg.range 3 group_reduce to %{{.*}}
// WHOLE: %r = tg.reduce add %m [] over %{{.*}}, %{{.*}}
// WHOLE: %e = tg.end %s over %j, %i : !tg.void
// WHOLE: %{{.*}} = tg.sink %e opts [#tg.opt<split 2, 4, group_reduce>, #tg.opt<split 0, 16, upcast>]

// PARTS: error: pass tg-split: split 0, 5, upcast: range 0 to 16 is not made of parts of 5

// KIND: error: pass tg-split: split 0, 4, unroll: unroll is split from group_reduce or reduce, and range 0 is global

// SIDE: error: pass tg-split: split 1, 8, thread: thread is the outer part

// AXIS: error: pass tg-split: split 9, 8, upcast: there is no range 9; there are: 0, 1, 2

// KERNEL: error: pass tg-split: there is no kernel @f

#g = #tg.place<global>
tg.kernel @gemm {
  %o = tg.param 0 : tensor<16x32xf32, #g>
  %a = tg.param 1 : tensor<16x8xf32, #g>
  %b = tg.param 2 : tensor<8x32xf32, #g>
  %c16 = tg.const 16 : tensor<index>
  %c32 = tg.const 32 : tensor<index>
  %c8 = tg.const 8 : tensor<index>
  %i = tg.range 0 loop to %c16 : tensor<index>
  %j = tg.range 1 loop to %c32 : tensor<index>
  %k = tg.range 2 reduce to %c8 : tensor<index>
  %al = tg.index %a[%i, %k] : (tensor<16x8xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %av = tg.load %al : tensor<f32, #g> -> tensor<f32>
  %bl = tg.index %b[%k, %j] : (tensor<8x32xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %bv = tg.load %bl : tensor<f32, #g> -> tensor<f32>
  %m = tg.mul %av, %bv : tensor<f32>
  %r = tg.reduce add %m [] over %k : tensor<f32> -> tensor<f32>
  %ol = tg.index %o[%i, %j] : (tensor<16x32xf32, #g>, tensor<index>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %r : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %j, %i : !tg.void
  tg.sink %e : !tg.void
}

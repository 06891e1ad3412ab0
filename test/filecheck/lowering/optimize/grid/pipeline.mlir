// RUN: tg-opt %s -p 'tg-pipeline{axis=1}' | filecheck %s --check-prefix=KERNEL
// RUN: tg-opt %s -p 'tg-pipeline{axis=1 buffers=3},tg-expand,tg-select,tg-linearize,tg-check-barriers' | filecheck %s --check-prefix=LINEAR
// RUN: tg-opt %s -p 'tg-pipeline{axis=1 buffers=3},tg-expand,tg-select,tg-linearize,tg-plan,tg-render{output=gpu}' -t ptx | filecheck %s --check-prefix=PTX
// RUN: tg-opt %s -p 'tg-pipeline{axis=1 buffers=3},tg-expand,tg-select,tg-linearize,tg-plan' -t cuda | filecheck %s --check-prefix=CUDA
// RUN: tg-opt %s -p 'tg-pipeline{axis=1 buffers=3},tg-expand,tg-select,tg-linearize,tg-plan' -t opencl | filecheck %s --check-prefix=OPENCL
// RUN: sed 's/sm_80"/sm_80", local = 512/' %s | not tg-opt -p 'tg-pipeline{axis=1 buffers=4}' 2>&1 | filecheck %s --check-prefix=MANY
// RUN: not tg-opt %s -p 'tg-pipeline{axis=1 buffers=1}' 2>&1 | filecheck %s --check-prefix=ONE
// RUN: not tg-opt %s -p 'tg-pipeline{axis=1 buffers=5}' 2>&1 | filecheck %s --check-prefix=SHORT
// RUN: not tg-opt %s -p 'tg-pipeline{axis=0}' 2>&1 | filecheck %s --check-prefix=PARALLEL
// RUN: not tg-opt %s -p 'tg-pipeline{axis=1},tg-pipeline{axis=1}' 2>&1 | filecheck %s --check-prefix=TWICE

// PIPELINE: the first tile is copied before the loop, and the next one in it, while this one is used.

// KERNEL:      %t = tg.range 1 reduce to
// KERNEL:      %[[B:.*]] = tg.buffer 0 : tensor<2x32xf32,
// KERNEL:      %[[FIRST:.*]] = tg.end %{{.*}} over %{{.*}}
// KERNEL:      %[[AHEAD:.*]] = tg.add %t,
// KERNEL:      %[[GATE:.*]] = tg.cmplt %[[AHEAD]], %c4
// KERNEL:      %[[TILE:.*]] = tg.where %[[GATE]], %[[AHEAD]],
// KERNEL:      tg.after %[[B]], %[[FIRST]], %t
// KERNEL:      %[[TURN:.*]] = tg.mod %[[AHEAD]],
// KERNEL:      tg.index %x[%i, %[[TILE]], %j]
// KERNEL:      tg.index %{{.*}}[%[[TURN]], %j]
// KERNEL:      %[[COPY:.*]] = tg.store %{{.*}} gate %[[GATE]]
// KERNEL:      %[[END:.*]] = tg.end %[[COPY]] over %j
// KERNEL:      %[[FILLED:.*]] = tg.after %[[B]], %[[END]]
// KERNEL:      %[[NOW:.*]] = tg.mod %t,
// KERNEL:      tg.index %[[FILLED]][%[[NOW]], %back]
// KERNEL:      opts [#tg.opt<pipeline 1, 2>]

// A loop copies the first two tiles of three. One BARRIER an iteration, and none before the loop: the
// buffers are not cleared.

// LINEAR:      tg.buffer 0 : tensor<96xf32, #tg.place<local>>
// LINEAR-NOT:  tg.barrier
// LINEAR-NOT:  tg.store
// LINEAR:      %[[FIRST:.*]] = tg.range 5 loop to
// LINEAR:      %[[COPY:.*]] = tg.store
// LINEAR-NEXT: tg.end %[[COPY]] over %[[FIRST]]
// LINEAR-NOT:  tg.barrier
// LINEAR-NOT:  tg.store
// LINEAR:      tg.range 1 reduce
// LINEAR:      tg.barrier
// LINEAR-NEXT: tg.if
// LINEAR-NEXT: tg.store
// LINEAR-NEXT: tg.endif
// LINEAR-NOT:  tg.barrier
// LINEAR:      tg.end

// The copies before the loop have to be there; in it, the group of the last iteration may be pending.

// PTX:       $L__BB0_1:
// PTX:         cp.async.ca.shared.global {{.*}}, 4;
// PTX:         bra $L__BB0_1;
// PTX-NEXT:    cp.async.commit_group;
// PTX-NEXT:    cp.async.wait_group 0;
// PTX:       $L__BB0_3:
// PTX:         cp.async.commit_group;
// PTX-NEXT:    cp.async.wait_group 1;
// PTX-NEXT:    bar.sync 0;
// PTX:         cp.async.ca.shared.global {{.*}}, 4;
// PTX-NOT:     bar.sync

// CUDA:        __align__(16) __shared__ float shared0[96];
// CUDA:        for (int k = 0; k < 2; k++) {
// CUDA:          asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
// CUDA-NEXT:         :: "r"((unsigned)__cvta_generic_to_shared(shared0 + {{.*}})),
// CUDA-NEXT:            "l"(__cvta_generic_to_global(x + {{.*}})) : "memory");
// CUDA-NEXT:   }
// CUDA-NEXT:   asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
// CUDA-NEXT:   for (int t = 0; t < 4; t++) {
// CUDA:          asm volatile("cp.async.commit_group; cp.async.wait_group 1;" ::: "memory");
// CUDA-NEXT:     __syncthreads();

// OPENCL:      for (int t = 0; t < 4; t++) {
// OPENCL:        barrier(
// OPENCL-NEXT:   if (
// OPENCL:          shared0[{{.*}}] =
// OPENCL-NOT:    barrier(

// MANY: error: pass tg-pipeline: pipeline 1, 4: buffers of 640 bytes do not fit into LOCAL memory
// ONE: error: pass tg-pipeline: pipeline 1, 1: a pipeline has 2 buffers or more, not 1
// SHORT: error: pass tg-pipeline: pipeline 1, 5: range 1 to 4 has fewer than 5 tiles
// PARALLEL: error: pass tg-pipeline: pipeline 0, 2: range 0 is no serial loop that an END closes
// TWICE: error: pass tg-pipeline: pipeline 1, 2: no tile of a parameter is copied to LOCAL memory in range 1

#g = #tg.place<global>
#l = #tg.place<local>
!i = tensor<index>
module attributes {tg.target = #tg.target<"nvidia:sm_80">} {
tg.kernel @rows {
  %o = tg.param 0 : tensor<8x32xf32, #g>
  %x = tg.param 1 : tensor<8x4x32xf32, #g>
  %c8 = tg.const 8 : !i
  %c4 = tg.const 4 : !i
  %c32 = tg.const 32 : !i
  %c31 = tg.const 31 : !i
  %i = tg.range 0 global to %c8 : !i
  %t = tg.range 1 loop to %c4 : !i
  %b = tg.buffer 0 : tensor<32xf32, #l>
  %j = tg.range 2 local to %c32 : !i
  %xl = tg.index %x[%i, %t, %j] : (tensor<8x4x32xf32, #g>, !i, !i, !i) -> tensor<f32, #g>
  %xv = tg.load %xl : tensor<f32, #g> -> tensor<f32>
  %b0 = tg.after %b, %t : (tensor<32xf32, #l>, !i) -> tensor<32xf32, #l>
  %bc = tg.index %b0[%j] : (tensor<32xf32, #l>, !i) -> tensor<f32, #l>
  %bs = tg.store %bc, %xv : tensor<f32, #l>, tensor<f32>
  %be = tg.end %bs over %j : !tg.void
  %k = tg.range 3 local to %c32 : !i
  %back = tg.sub %c31, %k : !i
  %b1 = tg.after %b, %be : (tensor<32xf32, #l>, !tg.void) -> tensor<32xf32, #l>
  %rc = tg.index %b1[%back] : (tensor<32xf32, #l>, !i) -> tensor<f32, #l>
  %r = tg.load %rc : tensor<f32, #l> -> tensor<f32>
  %a = tg.buffer 1 : tensor<32xf32, #l>
  %a0 = tg.after %a, %i, %t : (tensor<32xf32, #l>, !i, !i) -> tensor<32xf32, #l>
  %ac = tg.index %a0[%k] : (tensor<32xf32, #l>, !i) -> tensor<f32, #l>
  %av = tg.load %ac : tensor<f32, #l> -> tensor<f32>
  %sum = tg.add %av, %r : tensor<f32>
  %as = tg.store %ac, %sum : tensor<f32, #l>, tensor<f32>
  %ae = tg.end %as over %k, %t : !tg.void
  %n = tg.range 4 local to %c32 : !i
  %a1 = tg.after %a, %ae : (tensor<32xf32, #l>, !tg.void) -> tensor<32xf32, #l>
  %fc = tg.index %a1[%n] : (tensor<32xf32, #l>, !i) -> tensor<f32, #l>
  %f = tg.load %fc : tensor<f32, #l> -> tensor<f32>
  %oc = tg.index %o[%i, %n] : (tensor<8x32xf32, #g>, !i, !i) -> tensor<f32, #g>
  %os = tg.store %oc, %f : tensor<f32, #g>, tensor<f32>
  %oe = tg.end %os over %n, %i : !tg.void
  tg.sink %oe : !tg.void
}
}

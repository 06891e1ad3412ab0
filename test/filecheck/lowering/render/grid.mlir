// RUN: tg-opt %s -p tg-render | filecheck %s

// A program for a grid: workgroups and work items are loops, split at the barrier. The second index
// of an axis is the outer loop, and what bounds depend on comes before all loops.

!memory = tensor<8xi32, #tg.place<local>>
!cell = tensor<i32, #tg.place<local>>
!result = tensor<i32, #tg.place<global>>

tg.program @reverse {
  %0 = tg.linear {
    %out = tg.param 0 : tensor<1024xi32, #tg.place<global>>
    %n = tg.param 1 "n" min 1 max 64 : tensor<index>
    %l = tg.buffer 0 : !memory
    %c8 = tg.const 8 : tensor<index>
    %c7 = tg.const 7 : tensor<index>
    %one = tg.const 1 : tensor<index>
    %groups = tg.add %n, %one : tensor<index>
    %t = tg.special "lidx0" to %c8 : tensor<index>
    %g = tg.special "gidx0" to %groups : tensor<index>
    %v = tg.cast %t to i32 : tensor<index> -> tensor<i32>
    %p = tg.index %l[%t] : (!memory, tensor<index>) -> !cell
    %s = tg.store %p, %v : !cell, tensor<i32>
    %b = tg.barrier
    %o = tg.sub %c7, %t : tensor<index>
    %q = tg.index %l[%o] : (!memory, tensor<index>) -> !cell
    %w = tg.load %q : !cell -> tensor<i32>
    %base = tg.mul %g, %c8 : tensor<index>
    %at = tg.add %base, %t : tensor<index>
    %r = tg.index %out[%at] : (tensor<1024xi32, #tg.place<global>>, tensor<index>) -> !result
    %s2 = tg.store %r, %w : !result, tensor<i32>
    tg.sink %s2 : !tg.void
  }
}

// CHECK-LABEL: llvm.func @reverse(
// CHECK:   %groups = llvm.add %n,
// CHECK: ^bb1(%g: i64):
// CHECK:   llvm.br ^bb2(
// CHECK: ^bb2(%t: i64):
// CHECK:   llvm.store
// CHECK:   llvm.cond_br %{{.*}}, ^bb2(
// CHECK: ^bb3:
// CHECK:   llvm.br ^bb4(
// CHECK: ^bb4(%t{{.*}}: i64):
// CHECK:   llvm.load
// CHECK:   llvm.store
// CHECK:   llvm.cond_br %{{.*}}, ^bb4(
// CHECK: ^bb5:
// CHECK:   llvm.cond_br %{{.*}}, ^bb1(

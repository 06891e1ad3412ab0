// RUN: not tg-opt %s -p tg-check-barriers 2>&1 | filecheck %s

// A missing barrier is reported at the later access, with a note at the earlier one.

// CHECK:      missing.mlir:25:{{[0-9]+}}: error: pass tg-check-barriers: race: this reads a cell of buffer 0 that another work item writes, and no barrier is between the two
// CHECK-NEXT:   %v = tg.load
// CHECK-NEXT:   ^
// CHECK-NEXT: missing.mlir:24:{{[0-9]+}}: note: another work item writes it here
// CHECK-NEXT:   %s = tg.store

!memory = tensor<8xi32, #tg.place<local>>
!cell = tensor<i32, #tg.place<local>>

tg.program @k {
  %0 = tg.linear {
    %l = tg.buffer 0 : !memory
    %c8 = tg.const 8 : tensor<index>
    %c7 = tg.const 7 : tensor<index>
    %one = tg.const 1 : tensor<i32>
    %t = tg.special "lidx0" to %c8 : tensor<index>
    %o = tg.sub %c7, %t : tensor<index>
    %p = tg.index %l[%t] : (!memory, tensor<index>) -> !cell
    %q = tg.index %l[%o] : (!memory, tensor<index>) -> !cell
    %s = tg.store %p, %one : !cell, tensor<i32>
    %v = tg.load %q : !cell -> tensor<i32>
    tg.sink %s : !tg.void
  }
}

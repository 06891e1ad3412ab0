// RUN: not tg-opt %s -p tg-check-barriers 2>&1 | filecheck %s

// A barrier that only some work items reach, with a note at the loop or IF that keeps the others.

// CHECK: blocked.mlir:16:{{[0-9]+}}: error: pass tg-check-barriers: not all work items of a workgroup may reach this barrier
// CHECK: blocked.mlir:15:{{[0-9]+}}: note: they may differ in this if

tg.program @k {
  %0 = tg.linear {
    %c8 = tg.const 8 : tensor<index>
    %c4 = tg.const 4 : tensor<index>
    %t = tg.special "lidx0" to %c8 : tensor<index>
    %g = tg.cmplt %t, %c4
        : (tensor<index>, tensor<index>) -> tensor<i1>
    %if = tg.if %g : tensor<i1>
    %b = tg.barrier
    %e = tg.endif %if
    tg.sink %e : !tg.void
  }
}

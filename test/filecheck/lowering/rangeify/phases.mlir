// RUN: sed 's/^func/module attributes {tg.target = #tg.target<"opencl">} { func/; s/^}$/} }/' %S/../../../../examples/scatter_add.mlir | tg-opt -p 'tg-callify,tg-rangeify' | filecheck %s
// RUN: tg-opt %S/../../../../examples/scatter_add.mlir -p 'tg-callify,tg-rangeify' | filecheck %s --check-prefix=CPU

// On a grid no workgroup waits for another one within a kernel: the loop over cells is a kernel, and the loop that adds to them,
// whose iterations may have any order, is another. A CPU has both loops in one kernel, the second one in order.

// CHECK: tg.kernel @main_0
// CHECK: tg.range 0 loop to
// CHECK: tg.store
// CHECK-NOT: tg.atomicadd
// CHECK: tg.kernel @main_1
// CHECK: tg.range 1 loop to
// CHECK: tg.atomicadd
// CHECK: func.func @main
// CHECK: %[[FIRST:.*]] = tg.call @main_0(%out0, %t)
// CHECK: %[[CELLS:.*]] = tg.after %out0, %[[FIRST]]
// CHECK: tg.call @main_1(%[[CELLS]], %idx, %val)

// CPU: tg.kernel @main_0
// CPU: tg.range 1 reduce to
// CPU: tg.store
// CPU: tg.atomicadd
// CPU-NOT: tg.kernel

// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=explicit opts="split 0, 8, local","split 1, 4, upcast"}' | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=explicit opts="split 0, 8, local","split 1, 4, upcast"},tg-expand,tg-select,tg-linearize' | filecheck %s --check-prefix=GRID
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=explicit opts="nolocals"},tg-expand,tg-select,tg-linearize' | filecheck %s --check-prefix=NOLOCALS
// RUN: not tg-opt %s -p 'tg-callify,tg-rangeify,tg-optimize{mode=explicit opts="split 0, 2, thread, top"}' 2>&1 | filecheck %s --check-prefix=THREAD

// An explicit schedule on a grid says which axes workgroups and work items have. A grid has no
// threads.

// CHECK-LABEL: tg.kernel @double_0
// CHECK: opts [#tg.opt<split 0, 8, local>, #tg.opt<split 1, 4, upcast>]

// GRID-LABEL: tg.program @double_0
// GRID-DAG: tg.special "gidx0" to
// GRID-DAG: tg.special "lidx0" to
// GRID: tg.load {{.*}} -> tensor<4xf32>

// NOLOCALS-LABEL: tg.program @double_0
// NOLOCALS: tg.special "gidx0"
// NOLOCALS-NOT: "lidx0"

// THREAD: error: {{.*}}kernel @double_0: split 0, 2, thread, top: opencl is a grid, which has no threads

module attributes {tg.target = #tg.target<"opencl">} {
func.func @double(%a: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %m = tg.add %a, %a : tensor<64x32xf32>
  func.return %m : tensor<64x32xf32>
}
}

// RUN: sed 's/TARGET/"opencl"/' %s | tg-opt -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic}' | filecheck %s
// RUN: sed 's/TARGET/"opencl", barrier_cycles = 100000/' %s | tg-opt -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=SLOW
// RUN: sed 's/TARGET/"nvidia:sm_80"/' %s | tg-opt -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=UNITS
// RUN: sed 's/TARGET/"nvidia:sm_80", units = 8/' %s | tg-opt -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=FEW

// The rates and sizes of a grid decide.

module attributes {tg.target = #tg.target<TARGET>} {
// Work items share rows, unless that takes long: then each has a row.

// CHECK-LABEL: tg.kernel @sums_0
// CHECK: group_reduce>
// SLOW-LABEL: tg.kernel @sums_0
// SLOW-NOT: group_reduce>
// SLOW: local>
func.func @sums(%a: tensor<65536x64xf32>) -> tensor<65536x1xf32> {
  %m = tg.reduce add %a [1] : tensor<65536x64xf32> -> tensor<65536x1xf32>
  func.return %m : tensor<65536x1xf32>
}

// A work item has vectors if that leaves work items for all units.

// UNITS-LABEL: tg.kernel @square_0
// UNITS: opts [#tg.opt<merge 0, 1>, #tg.opt<split 0, 256, local>]
// FEW-LABEL: tg.kernel @square_0
// FEW: opts [#tg.opt<merge 0, 1>, #tg.opt<split 0, 4, upcast>, #tg.opt<split 0, 256, local>]
func.func @square(%a: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %m = tg.mul %a, %a : tensor<64x512xf32>
  func.return %m : tensor<64x512xf32>
}
}

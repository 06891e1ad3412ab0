// RUN: sed 's/TARGET/"opencl"/' %s | tg-opt -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic}' | filecheck %s
// RUN: sed 's/TARGET/"opencl", workgroup = 8/' %s | tg-opt -p 'tg-callify,tg-rangeify,tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=SMALL

// A workgroup has as many work items as the target says.

module attributes {tg.target = #tg.target<TARGET>} {
// Elementwise: one loop of vectors, whose neighbours are neighbouring work items.

// CHECK-LABEL: tg.kernel @big_0
// CHECK: opts [#tg.opt<merge 0, 1>, #tg.opt<split 0, 4, upcast>, #tg.opt<split 0, 250, local>]
// SMALL-LABEL: tg.kernel @big_0
// SMALL: opts [#tg.opt<merge 0, 1>, #tg.opt<split 0, 4, upcast>, #tg.opt<split 0, 8, local>]
func.func @big(%a: tensor<3000x100xf32>) -> tensor<3000x100xf32> {
  %m = tg.mul %a, %a : tensor<3000x100xf32>
  func.return %m : tensor<3000x100xf32>
}

// Layer norm: a workgroup for each row, which has two reductions. Each work item loads the parts of all.

// CHECK-LABEL: tg.kernel @ln_0
// CHECK: opts [#tg.opt<split 1, 4, upcast>, #tg.opt<split 1, 64, local>, #tg.opt<split 3, 4, unroll>, #tg.opt<split 3, 64, group_reduce>,
// CHECK-SAME: #tg.opt<split 4, 64, group_reduce>,
// SMALL-LABEL: tg.kernel @ln_0
// SMALL: opts [{{.*}}#tg.opt<split 3, 8, group_reduce>{{.*}}#tg.opt<split 4, 8, group_reduce>, #tg.opt<order 0, 6, 1, 5>]
func.func @ln(%a: tensor<4x1024xf32>) -> tensor<4x1024xf32> {
  %m = tg.reduce add %a [1] : tensor<4x1024xf32> -> tensor<4x1xf32>
  %s = tg.sub %a, %m : (tensor<4x1024xf32>, tensor<4x1xf32>) -> tensor<4x1024xf32>
  %q = tg.mul %s, %s : tensor<4x1024xf32>
  %t = tg.reduce add %q [1] : tensor<4x1024xf32> -> tensor<4x1xf32>
  %r = tg.sqrt %t : tensor<4x1xf32>
  %d = tg.div %s, %r : (tensor<4x1024xf32>, tensor<4x1xf32>) -> tensor<4x1024xf32>
  func.return %d : tensor<4x1024xf32>
}

// Transposes that no square fits: vectors are not legal, and the stores are of neighbours.

// CHECK-LABEL: tg.kernel @odd_0
// CHECK-NOT: stage
// CHECK: local>
func.func @odd(%a: tensor<37x101xf32>) -> tensor<101x37xf32> {
  %m = tg.permute %a [1, 0] : tensor<37x101xf32> -> tensor<101x37xf32>
  %c = tg.contiguous %m : tensor<101x37xf32>
  func.return %c : tensor<101x37xf32>
}
}

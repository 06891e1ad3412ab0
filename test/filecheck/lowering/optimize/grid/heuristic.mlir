// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=opencl},tg-optimize{target=opencl mode=heuristic}' | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=opencl},tg-optimize{target=opencl mode=heuristic},tg-expand,tg-select,tg-linearize' | filecheck %s --check-prefix=GRID

// The OptOps that the heuristic chooses for a grid, and the SPECIALs and BARRIERs that they become.

// A reduction with few results is shared by a workgroup. Without shuffles each work item loads the parts of all, so that 128
// of them take less time than 256.

// CHECK-LABEL: tg.kernel @rowsum_0
// CHECK: opts [#tg.opt<split 1, 4, unroll>, #tg.opt<split 1, 128, group_reduce>, #tg.opt<split 0, 2, local>
// GRID-LABEL: tg.program @rowsum_0
// GRID: tg.special "gidx0"
// GRID: tg.special "lidx0"
// GRID: tg.barrier
func.func @rowsum(%a: tensor<16x2048xf32>) -> tensor<16x1xf32> {
  %m = tg.reduce add %a [1] : tensor<16x2048xf32> -> tensor<16x1xf32>
  return %m : tensor<16x1xf32>
}

// Columns: neighbouring work items load neighbours, and each has a part of the rows.

// CHECK-LABEL: tg.kernel @colsum_0
// CHECK: opts [{{.*}}#tg.opt<split 0, 32, local>, #tg.opt<split 1, 8, group_reduce>
// GRID-LABEL: tg.program @colsum_0
// GRID: tg.barrier
func.func @colsum(%a: tensor<512x64xf32>) -> tensor<1x64xf32> {
  %m = tg.reduce add %a [0] : tensor<512x64xf32> -> tensor<1x64xf32>
  return %m : tensor<1x64xf32>
}

// A reduction of everything.

// CHECK-LABEL: tg.kernel @sum_0
// CHECK: opts [#tg.opt<split 0, 4, unroll>, #tg.opt<split 0, 64, group_reduce>
// GRID-LABEL: tg.program @sum_0
// GRID: tg.special "lidx0"
// GRID: tg.barrier
func.func @sum(%a: tensor<4096xf32>) -> tensor<1xf32> {
  %m = tg.reduce add %a [0] : tensor<4096xf32> -> tensor<1xf32>
  return %m : tensor<1xf32>
}

// Squares of a transpose go through LOCAL memory, padded.

// CHECK-LABEL: tg.kernel @tr_0
// CHECK: opts [{{.*}}#tg.opt<stage 1, 1, local, pad>
// GRID-LABEL: tg.program @tr_0
// GRID: tg.barrier
func.func @tr(%a: tensor<64x128xf32>) -> tensor<128x64xf32> {
  %m = tg.permute %a [1, 0] : tensor<64x128xf32> -> tensor<128x64xf32>
  %c = tg.contiguous %m : tensor<128x64xf32>
  return %c : tensor<128x64xf32>
}

// A workgroup for each row.

// CHECK-LABEL: tg.kernel @softmax_0
// CHECK: opts [{{.*}}#tg.opt<split 1, 4, upcast>, #tg.opt<split 1, 128, local>, #tg.opt<split 3, 4, unroll>, #tg.opt<split 3, 128, group_reduce>
// GRID-LABEL: tg.program @softmax_0
// GRID: tg.barrier
func.func @softmax(%a: tensor<4x1024xf32>) -> tensor<4x1024xf32> {
  %m = tg.reduce max %a [1] : tensor<4x1024xf32> -> tensor<4x1xf32>
  %s = tg.sub %a, %m : (tensor<4x1024xf32>, tensor<4x1xf32>) -> tensor<4x1024xf32>
  %e = tg.exp2 %s : tensor<4x1024xf32>
  %t = tg.reduce add %e [1] : tensor<4x1024xf32> -> tensor<4x1xf32>
  %d = tg.div %e, %t : (tensor<4x1024xf32>, tensor<4x1xf32>) -> tensor<4x1024xf32>
  return %d : tensor<4x1024xf32>
}

// A product with prime extents: no register tiles, and no padding; work items share the steps.

// CHECK-LABEL: tg.kernel @gemm_odd_0
// CHECK: opts [#tg.opt<split 1, 19, local>, #tg.opt<split 2, 12, group_reduce>]
// GRID-LABEL: tg.program @gemm_odd_0
// GRID: tg.special "lidx0"
func.func @gemm_odd(%a: tensor<37x24xf32>, %b: tensor<24x19xf32>) -> tensor<37x19xf32> {
  %columns = tg.reshape %a [37, 24, 1] : tensor<37x24xf32> -> tensor<37x24x1xf32>
  %rows = tg.reshape %b [1, 24, 19] : tensor<24x19xf32> -> tensor<1x24x19xf32>
  %p = tg.mul %columns, %rows : (tensor<37x24x1xf32>, tensor<1x24x19xf32>) -> tensor<37x24x19xf32>
  %d = tg.reduce add %p [1] : tensor<37x24x19xf32> -> tensor<37x1x19xf32>
  %s = tg.reshape %d [37, 19] : tensor<37x1x19xf32> -> tensor<37x19xf32>
  return %s : tensor<37x19xf32>
}

// A product: register tiles, and blocks of steps in LOCAL memory.

// CHECK-LABEL: tg.kernel @gemm100_0
// CHECK: opts [{{.*}}#tg.opt<split 1, 4, upcast>{{.*}}#tg.opt<stage 1, 2, local, pad>{{.*}}#tg.opt<stage 2, 2, local, pad>
// GRID-LABEL: tg.program @gemm100_0
// GRID: tg.barrier
func.func @gemm100(%a: tensor<100x20xf32>, %b: tensor<20x200xf32>) -> tensor<100x200xf32> {
  %columns = tg.reshape %a [100, 20, 1] : tensor<100x20xf32> -> tensor<100x20x1xf32>
  %rows = tg.reshape %b [1, 20, 200] : tensor<20x200xf32> -> tensor<1x20x200xf32>
  %p = tg.mul %columns, %rows : (tensor<100x20x1xf32>, tensor<1x20x200xf32>) -> tensor<100x20x200xf32>
  %d = tg.reduce add %p [1] : tensor<100x20x200xf32> -> tensor<100x1x200xf32>
  %s = tg.reshape %d [100, 200] : tensor<100x1x200xf32> -> tensor<100x200xf32>
  return %s : tensor<100x200xf32>
}

// Several short rows have a workgroup. All loops over the row are split alike.

// CHECK-LABEL: tg.kernel @short_rows_0
// CHECK: opts [#tg.opt<split 1, 4, upcast>, #tg.opt<split 1, 16, local>, #tg.opt<split 2, 4, unroll>, #tg.opt<split 2, 16, group_reduce>{{.*}}#tg.opt<split 0, 16, local>
// GRID-LABEL: tg.program @short_rows_0
// GRID: tg.barrier
func.func @short_rows(%a: tensor<512x64xf32>) -> tensor<512x64xf32> {
  %m = tg.reduce add %a [1] : tensor<512x64xf32> -> tensor<512x1xf32>
  %x = tg.reduce max %a [1] : tensor<512x64xf32> -> tensor<512x1xf32>
  %d = tg.sub %a, %m : (tensor<512x64xf32>, tensor<512x1xf32>) -> tensor<512x64xf32>
  %e = tg.mul %d, %x : (tensor<512x64xf32>, tensor<512x1xf32>) -> tensor<512x64xf32>
  return %e : tensor<512x64xf32>
}

// Several short rows of a softmax: each has a row of the buffer of exponentials. A work item reads what it has written, so that
// in the program that is in registers, and the LOCAL memory is that of the parts of reductions.

// CHECK-LABEL: tg.kernel @short_softmax_0
// CHECK: tg.buffer 0 : tensor<16x64xf32, #tg.place<local>>
// CHECK: opts [{{.*}}#tg.opt<split 4, 16, group_reduce>, #tg.opt<split 0, 16, local>
// GRID-LABEL: tg.program @short_softmax_0
// GRID: tg.special "lidx1"
// GRID: tg.special "lidx0"
// GRID: tg.buffer {{[0-9]+}} : tensor<256xf32, #tg.place<local>>
// GRID: tg.buffer {{[0-9]+}} : tensor<4xf32, #tg.place<reg>>
// GRID: tg.barrier
func.func @short_softmax(%a: tensor<512x64xf32>) -> tensor<512x64xf32> {
  %m = tg.reduce max %a [1] : tensor<512x64xf32> -> tensor<512x1xf32>
  %s = tg.sub %a, %m : (tensor<512x64xf32>, tensor<512x1xf32>) -> tensor<512x64xf32>
  %e = tg.exp2 %s : tensor<512x64xf32>
  %t = tg.reduce add %e [1] : tensor<512x64xf32> -> tensor<512x1xf32>
  %d = tg.div %e, %t : (tensor<512x64xf32>, tensor<512x1xf32>) -> tensor<512x64xf32>
  return %d : tensor<512x64xf32>
}

// A reduction whose extent is a prime: padded, so that work items share it.

// CHECK-LABEL: tg.kernel @prime_0
// CHECK: opts [{{.*}}#tg.opt<padto 1, 4>, #tg.opt<split 1, 4, unroll>, #tg.opt<split 1, 65, group_reduce>
// GRID-LABEL: tg.program @prime_0
// GRID: tg.barrier
func.func @prime(%a: tensor<16x257xf32>) -> tensor<16x1xf32> {
  %m = tg.reduce add %a [1] : tensor<16x257xf32> -> tensor<16x1xf32>
  return %m : tensor<16x1xf32>
}

// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=opencl},tg-verify{level=kernels}' | filecheck %s
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=cpu},tg-verify{level=kernels}' | filecheck %s --check-prefix=CPU
// RUN: tg-opt %s -p 'tg-callify,tg-rangeify{target=opencl},tg-optimize{mode=heuristic}' | filecheck %s --check-prefix=OPTS
// RUN: sed 's/512/32/g' %s | tg-opt -p 'tg-callify,tg-rangeify{target=opencl}' | filecheck %s --check-prefix=FEW
// RUN: sed 's/128/2048/g' %s | tg-opt -p 'tg-callify,tg-rangeify{target=nvidia:sm_90}' | filecheck %s --check-prefix=LONG

// Attention on a grid: scores, exponentials and weights of a row are in LOCAL memory.

// CHECK:     tg.kernel
// CHECK:       tg.buffer 0 : tensor<128xf32, #tg.place<local>>
// CHECK:       tg.buffer 1 : tensor<128xf32, #tg.place<local>>
// CHECK:       tg.buffer 2 : tensor<128xf32, #tg.place<local>>
// CHECK-NOT: tg.kernel

// A work item computes 4 rows in registers, and a workgroup has several.
// OPTS: #tg.opt<split 0, 4, upcast>
// OPTS: #tg.opt<split 0, {{[0-9]+}}, local>

// On a CPU a kernel goes over blocks of scores, with a nest for each product (online.mlir).
// CPU:     tg.kernel
// CPU:       tg.buffer 0 : tensor<64x{{[0-9]+}}xf32, #tg.place<local>>
// CPU-NOT: tg.kernel

// Each product has a kernel of its own with few rows for the processors, and with rows too long for a
// workgroup's memory.
// FEW-COUNT-3: tg.kernel
// LONG-COUNT-3: tg.kernel

func.func @main(%q: tensor<512x32xf32>, %k: tensor<128x32xf32>, %v: tensor<128x32xf32>) -> tensor<512x32xf32> {
  %kt = tg.permute %k [1, 0] : tensor<128x32xf32> -> tensor<32x128xf32>
  %qc = tg.reshape %q [512, 32, 1] : tensor<512x32xf32> -> tensor<512x32x1xf32>
  %kr = tg.reshape %kt [1, 32, 128] : tensor<32x128xf32> -> tensor<1x32x128xf32>
  %qk = tg.mul %qc, %kr : (tensor<512x32x1xf32>, tensor<1x32x128xf32>) -> tensor<512x32x128xf32>
  %dots = tg.reduce add %qk [1] : tensor<512x32x128xf32> -> tensor<512x1x128xf32>
  %scores = tg.reshape %dots [512, 128] : tensor<512x1x128xf32> -> tensor<512x128xf32>
  %max = tg.reduce max %scores [1] : tensor<512x128xf32> -> tensor<512x1xf32>
  %shifted = tg.sub %scores, %max : (tensor<512x128xf32>, tensor<512x1xf32>) -> tensor<512x128xf32>
  %e = tg.exp2 %shifted : tensor<512x128xf32>
  %sum = tg.reduce add %e [1] : tensor<512x128xf32> -> tensor<512x1xf32>
  %w = tg.div %e, %sum : (tensor<512x128xf32>, tensor<512x1xf32>) -> tensor<512x128xf32>
  %wc = tg.reshape %w [512, 128, 1] : tensor<512x128xf32> -> tensor<512x128x1xf32>
  %vr = tg.reshape %v [1, 128, 32] : tensor<128x32xf32> -> tensor<1x128x32xf32>
  %p = tg.mul %wc, %vr : (tensor<512x128x1xf32>, tensor<1x128x32xf32>) -> tensor<512x128x32xf32>
  %o = tg.reduce add %p [1] : tensor<512x128x32xf32> -> tensor<512x1x32xf32>
  %r = tg.reshape %o [512, 32] : tensor<512x1x32xf32> -> tensor<512x32xf32>
  func.return %r : tensor<512x32xf32>
}

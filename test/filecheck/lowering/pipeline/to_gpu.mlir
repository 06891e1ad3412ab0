// RUN: tg-opt %s -p 'tg-to-gpu{mode=heuristic}' | filecheck %s
// RUN: tg-opt %s -p 'tg-to-gpu{target="nvidia:sm_80" mode=heuristic}' -t ptx | filecheck %s --check-prefix=PTX
// RUN: tg-opt %s -p 'tg-to-gpu{target="amd:gfx1100" mode=heuristic}' -t amdgcn | filecheck %s --check-prefix=GCN
// RUN: not tg-opt %s -p 'tg-to-gpu{target=opencl}' 2>&1 | filecheck %s --check-prefix=OPENCL

// From tensors to a grid: a workgroup of 256 work items with four elements each.

// CHECK:       gpu.module @kernels [#nvvm.target<chip = "sm_90", features = "+ptx84">] {
// CHECK-NEXT:    llvm.func @add_0(%out0: !llvm.ptr<1>, %a: !llvm.ptr<1>, %b: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>, no_unwind} {
// CHECK:           llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:           llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK:       llvm.func @add(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %out0: !llvm.ptr<1>) attributes {tg.signature
// CHECK:         gpu.launch_func @kernels::@add_0 blocks in (%0, %1, %1) threads in (%0, %1, %1) : i64 args(%out0 : !llvm.ptr<1>, %a : !llvm.ptr<1>, %b : !llvm.ptr<1>)

// PTX:         .target sm_80
// PTX-LABEL:   .entry add_0(
// PTX:         .reqntid 256, 1, 1
// PTX:         ld.global.v4.b32
// PTX:         add.rn.f32
// PTX:         st.global.v4.b32

// GCN:         .amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
// GCN-LABEL:   add_0:
// GCN:         global_load_b128
// GCN:         global_store_b128

// OPENCL: error: pass tg-render: the target opencl has no output gpu

func.func @add(%a: tensor<256x1024xf32>, %b: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  %0 = tg.add %a, %b : tensor<256x1024xf32>
  func.return %0 : tensor<256x1024xf32>
}

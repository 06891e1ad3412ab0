// RUN: tg-opt %s -p 'tg-render{target="nvidia:sm_90"}' | filecheck %s --check-prefixes=CHECK,NVIDIA
// RUN: tg-opt %s -p 'tg-render{target="amd:gfx942"}' | filecheck %s --check-prefixes=CHECK,AMD
// RUN: tg-opt %s -p 'tg-render{target="nvidia:sm_90"}' -t ptx | filecheck %s --check-prefix=PTX
// RUN: tg-opt %s -p 'tg-render{target="amd:gfx942"}' -t amdgcn | filecheck %s --check-prefix=GCN

// Each workgroup reverses the four vectors of its work items through LOCAL memory. SPECIALs are
// registers, a LOCAL buffer is a variable of the workgroup, a REG buffer is on the stack and zeroed.

#g = #tg.place<global>
#l = #tg.place<local>
#r = #tg.place<reg>
!i = tensor<index>
tg.program @reverse {
  tg.linear {
    %o = tg.param 0 : tensor<64xf32, #g>
    %x = tg.param 1 : tensor<64xf32, #g>
    %shared = tg.buffer 0 : tensor<16xf32, #l>
    %own = tg.buffer 1 : tensor<4xf32, #r>
    %c3 = tg.const 3 : !i
    %c4 = tg.const 4 : !i
    %c16 = tg.const 16 : !i
    %lanes = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
    %group = tg.special "gidx0" to %c4 : !i
    %item = tg.special "lidx0" to %c4 : !i
    %first = tg.mul %group, %c16 : !i
    %mine = tg.mul %item, %c4 : !i
    %at = tg.add %first, %mine : !i
    %at4 = tg.add %lanes, %at : (tensor<4xindex>, !i) -> tensor<4xindex>
    %lx = tg.index %x[%at4] : (tensor<64xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %v = tg.load %lx : tensor<4xf32, #g> -> tensor<4xf32>
    %mine4 = tg.add %lanes, %mine : (tensor<4xindex>, !i) -> tensor<4xindex>
    %ls = tg.index %shared[%mine4] : (tensor<16xf32, #l>, tensor<4xindex>) -> tensor<4xf32, #l>
    %s = tg.store %ls, %v : tensor<4xf32, #l>, tensor<4xf32>
    %b = tg.barrier %s : !tg.void
    %other = tg.sub %c3, %item : !i
    %theirs = tg.mul %other, %c4 : !i
    %theirs4 = tg.add %lanes, %theirs : (tensor<4xindex>, !i) -> tensor<4xindex>
    %lt = tg.index %shared[%theirs4] : (tensor<16xf32, #l>, tensor<4xindex>) -> tensor<4xf32, #l>
    %w = tg.load %lt : tensor<4xf32, #l> -> tensor<4xf32>
    %lr = tg.index %own[%lanes] : (tensor<4xf32, #r>, tensor<4xindex>) -> tensor<4xf32, #r>
    %r = tg.load %lr : tensor<4xf32, #r> -> tensor<4xf32>
    %sum = tg.add %w, %r : tensor<4xf32>
    %lo = tg.index %o[%at4] : (tensor<64xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %s2 = tg.store %lo, %sum : tensor<4xf32, #g>, tensor<4xf32>
    tg.sink %s2 : !tg.void
  }
}

// CHECK:       builtin.module attributes {{.*}}gpu.container_module
// NVIDIA-NEXT:   gpu.module @kernels [#nvvm.target<chip = "sm_90", features = "+ptx84">] {
// NVIDIA-NEXT:     llvm.mlir.global internal @reverse.local0() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<64 x i8>
// NVIDIA-NEXT:     llvm.func @reverse(%o: !llvm.ptr<1>, %x: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 4, 1, 1>, no_unwind} {
// AMD-NEXT:      gpu.module @kernels [#rocdl.target<chip = "gfx942">] {
// AMD-NEXT:        llvm.mlir.global internal @reverse.local0() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<64 x i8>
// AMD-NEXT:        llvm.func @reverse(%o: !llvm.ptr<1>, %x: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel, rocdl.flat_work_group_size = "4,4", no_unwind} {
// NVIDIA:            %own = llvm.alloca {{.*}} -> !llvm.ptr
// AMD:               %own = llvm.alloca {{.*}} -> !llvm.ptr<5>
// CHECK-NEXT:        "llvm.intr.memset"(%own
// CHECK:             [[SHARED:%.*]] = llvm.mlir.addressof @reverse.local0 : !llvm.ptr<3>
// NVIDIA-NEXT:       [[GROUP:%.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
// AMD-NEXT:          [[GROUP:%.*]] = rocdl.workgroup.id.x : i32
// CHECK-NEXT:        %group = llvm.zext [[GROUP]] : i32 to i64
// NVIDIA-NEXT:       [[ITEM:%.*]] = nvvm.read.ptx.sreg.tid.x : i32
// AMD-NEXT:          [[ITEM:%.*]] = rocdl.workitem.id.x : i32
// CHECK-NEXT:        %item = llvm.zext [[ITEM]] : i32 to i64
// CHECK:             [[LX:%.*]] = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
// AMD-NEXT:          %v = llvm.load [[LX]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// AMD-NEXT:          [[LS:%.*]] = llvm.getelementptr [[SHARED]][%mine] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
// AMD-NEXT:          llvm.store %v, [[LS]] {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// NVIDIA:            nvvm.cp.async.shared.global [[LS:%.*]], [[LX]], 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
// NVIDIA-NEXT:       nvvm.cp.async.commit.group
// NVIDIA-NEXT:       nvvm.cp.async.wait.group 0
// NVIDIA-NEXT:       nvvm.barrier0
// AMD-NEXT:          llvm.fence syncscope("workgroup") release
// AMD-NEXT:          rocdl.s.barrier
// AMD-NEXT:          llvm.fence syncscope("workgroup") acquire

// PTX-LABEL: .entry reverse(
// PTX:       .reqntid 4, 1, 1
// PTX:       .shared .align 128 .b8 {{.*}}local0[64];
// PTX:       cp.async.cg.shared.global {{.*}}, 16;
// PTX-NEXT:  cp.async.commit_group;
// PTX-NEXT:  cp.async.wait_group 0;
// PTX-NEXT:  bar.sync 0;
// PTX:       ld.shared.v4.b32
// PTX-NOT:   .local
// PTX:       st.global.v4.b32

// GCN-LABEL: reverse:
// GCN:       global_load_dwordx4
// GCN:       ds_write_b128
// GCN:       ds_read_b128
// GCN:       global_store_dwordx4

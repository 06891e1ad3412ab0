// RUN: tg-opt %s -p 'tg-render{target="nvidia:sm_90"}' | filecheck %s

// The host computes the extents of grids. A view is an address; a kernel that is called with one at
// an odd offset accesses vectors element by element.

#g = #tg.place<global>
#d = #tg.place<"CUDA", global>
!i = tensor<index>
tg.program @fill {
  tg.linear {
    %n = tg.param 0 "n" min 0 max 64 : !i
    %o = tg.param 1 : tensor<128xf32, #g>
    %c2 = tg.const 2 : !i
    %one = tg.const 1.0 : tensor<f32>
    %groups = tg.mul %n, %c2 : !i
    %group = tg.special "gidx1" to %groups : !i
    %lo = tg.index %o[%group] : (tensor<128xf32, #g>, !i) -> tensor<f32, #g>
    %s = tg.store %lo, %one : tensor<f32, #g>, tensor<f32>
    tg.sink %s : !tg.void
  }
}

// CHECK-LABEL: llvm.func @fill(%n: i64, %o: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 1, 1, 1>, no_unwind}

tg.program @copy {
  tg.linear {
    %o = tg.param 0 : tensor<4xf32, #g>
    %x = tg.param 1 : tensor<4xf32, #g>
    %lanes = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
    %lx = tg.index %x[%lanes] : (tensor<4xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %v = tg.load %lx : tensor<4xf32, #g> -> tensor<4xf32>
    %lo = tg.index %o[%lanes] : (tensor<4xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %s = tg.store %lo, %v : tensor<4xf32, #g>, tensor<4xf32>
    tg.sink %s : !tg.void
  }
}

// CHECK-LABEL: llvm.func @copy
// CHECK:         llvm.load %x {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:         llvm.store %v, %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>

// CHECK-LABEL: llvm.func @main(%n: i64, %r: !llvm.ptr<1>, %o: !llvm.ptr<1>)
// CHECK:         [[GROUPS:%.*]] = llvm.mul %n,
// CHECK-NEXT:    [[ANY:%.*]] = llvm.icmp "sgt" [[GROUPS]],
// CHECK-NEXT:    llvm.cond_br [[ANY]], ^[[THEN:.*]], ^[[REST:.*]]
// CHECK-NEXT:  ^[[THEN]]:
// CHECK-NEXT:    gpu.launch_func @kernels::@fill blocks in ([[ONE:%.*]], [[GROUPS]], [[ONE]]) threads in ([[ONE]], [[ONE]], [[ONE]]) : i64 args(%n : i64, %r : !llvm.ptr<1>)
// CHECK-NEXT:    llvm.br ^[[REST]]
// CHECK-NEXT:  ^[[REST]]:
// CHECK-NEXT:    [[VIEW:%.*]] = llvm.getelementptr %r[{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
// CHECK-NEXT:    gpu.launch_func @kernels::@copy blocks in ([[ONE]], [[ONE]], [[ONE]]) {{.*}} args(%o : !llvm.ptr<1>, [[VIEW]] : !llvm.ptr<1>)
// CHECK-NEXT:    llvm.return
func.func @main(%n: !i {tg.min = 0 : index, tg.max = 64 : index, tg.name = "n"}, %r: tensor<128xf32, #d>, %o: tensor<4xf32, #d>) attributes {tg.workspace_bytes = 0 : i64} {
  %v = tg.shrink %r at [6] to [4] : tensor<128xf32, #d> -> tensor<4xf32, #d>
  tg.linear {
    tg.call @fill(%n, %r) : (!i, tensor<128xf32, #d>) -> !tg.void
    tg.call @copy(%o, %v) : (tensor<4xf32, #d>, tensor<4xf32, #d>) -> !tg.void
  }
  func.return
}

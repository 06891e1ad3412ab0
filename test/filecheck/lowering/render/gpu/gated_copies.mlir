// RUN: tg-opt %s -p 'tg-render{target="nvidia:sm_90"}' | filecheck %s
// RUN: tg-opt %s -p 'tg-render{target="nvidia:sm_90"}' | tg-opt | filecheck %s
// RUN: tg-opt %s -p 'tg-render{target="nvidia:sm_90"}' -t ptx | filecheck %s --check-prefix=PTX
// RUN: tg-opt %s -p 'tg-render{target="nvidia:sm_90" output=cuda}' -t cuda | filecheck %s --check-prefix=CUDA
// RUN: tg-opt %s -p 'tg-render{target="amd:gfx942"}' | filecheck %s --check-prefix=AMD

// An asynchronous copy whose LOAD has a gate reads no bytes where that is false, and fills all with
// zeros. Its address is then that of the first element.

// CHECK-LABEL: llvm.func @rows
// CHECK:       %exists = llvm.icmp "slt" %item, {{%.*}} : i64
// CHECK:       [[AT:%.*]] = llvm.select %exists, %at, {{%.*}} : i1, i64
// CHECK-NEXT:  [[BYTES:%.*]] = llvm.select %exists, {{%.*}}, {{%.*}} : i1, i32
// CHECK:       [[FROM:%.*]] = llvm.getelementptr %x{{\[}}[[AT]]]
// CHECK-NEXT:  nvvm.cp.async.shared.global {{%.*}}, [[FROM]], 16, cache = cg, [[BYTES]] : !llvm.ptr<3>, !llvm.ptr<1>, i32

// PTX-LABEL:   .entry rows(
// PTX:         selp.b32 [[BYTES:%r[0-9]+]], 0, 16, %p{{[0-9]+}};
// PTX:         cp.async.cg.shared.global [%{{r[d0-9]+}}], [%rd{{[0-9]+}}], 16, [[BYTES]];

// AMD-LABEL:   llvm.func @rows
// AMD:         llvm.intr.masked.load

// CUDA-LABEL:  rows(
// CUDA:        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
// CUDA-NEXT:       :: "r"((unsigned)__cvta_generic_to_shared(shared + item * 4)),
// CUDA-NEXT:          "l"(__cvta_generic_to_global(x + (item < 3 ? item * 4 : 0))), "r"(item < 3 ? 4 : 0) : "memory");

#g = #tg.place<global>
#l = #tg.place<local>
!i = tensor<index>
tg.program @rows {
  tg.linear {
    %o = tg.param 0 : tensor<16xf32, #g>
    %x = tg.param 1 : tensor<12xf32, #g>
    %shared = tg.buffer 0 : tensor<16xf32, #l>
    %c3 = tg.const 3 : !i
    %c4 = tg.const 4 : !i
    %zero = tg.const 0.0 : tensor<f32>
    %one = tg.reshape %zero [1] : tensor<f32> -> tensor<1xf32>
    %zeros = tg.expand %one [4] : tensor<1xf32> -> tensor<4xf32>
    %lanes = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
    %item = tg.special "lidx0" to %c4 : !i
    %exists = tg.cmplt %item, %c3 : (!i, !i) -> tensor<i1>
    %at = tg.mul %item, %c4 : !i
    %at4 = tg.add %lanes, %at : (tensor<4xindex>, !i) -> tensor<4xindex>
    %lx = tg.index %x[%at4] : (tensor<12xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %v = tg.load %lx alt %zeros gate %exists : tensor<4xf32, #g>, tensor<4xf32>, tensor<i1> -> tensor<4xf32>
    %ls = tg.index %shared[%at4] : (tensor<16xf32, #l>, tensor<4xindex>) -> tensor<4xf32, #l>
    %s = tg.store %ls, %v : tensor<4xf32, #l>, tensor<4xf32>
    %b = tg.barrier %s : !tg.void
    %other = tg.sub %c3, %item : !i
    %theirs = tg.mul %other, %c4 : !i
    %theirs4 = tg.add %lanes, %theirs : (tensor<4xindex>, !i) -> tensor<4xindex>
    %lt = tg.index %shared[%theirs4] : (tensor<16xf32, #l>, tensor<4xindex>) -> tensor<4xf32, #l>
    %w = tg.load %lt : tensor<4xf32, #l> -> tensor<4xf32>
    %lo = tg.index %o[%at4] : (tensor<16xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %so = tg.store %lo, %w : tensor<4xf32, #g>, tensor<4xf32>
    %k = tg.sink %so : !tg.void
  }
}

// A gate of each element: a copy of 4 bytes for each.

// CHECK-LABEL:     llvm.func @elements
// CHECK-COUNT-4:   nvvm.cp.async.shared.global {{%.*}}, {{%.*}}, 4, cache = ca, {{%.*}} : !llvm.ptr<3>, !llvm.ptr<1>, i32
// PTX-LABEL:       .entry elements(
// PTX-COUNT-4:     cp.async.ca.shared.global [%{{r[d0-9]+}}{{(\+[0-9]+)?}}], [%rd{{[0-9]+}}], 4, %r{{[0-9]+}};
// CUDA-LABEL:      elements(
// CUDA-COUNT-4:    cp.async.ca.shared.global [%0], [%1], 4, %2;

tg.program @elements {
  tg.linear {
    %o = tg.param 0 : tensor<16xf32, #g>
    %x = tg.param 1 : tensor<13xf32, #g>
    %shared = tg.buffer 0 : tensor<16xf32, #l>
    %c3 = tg.const 3 : !i
    %c4 = tg.const 4 : !i
    %c13 = tg.const 13 : !i
    %zero = tg.const 0.0 : tensor<f32>
    %one = tg.reshape %zero [1] : tensor<f32> -> tensor<1xf32>
    %zeros = tg.expand %one [4] : tensor<1xf32> -> tensor<4xf32>
    %lanes = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
    %item = tg.special "lidx0" to %c4 : !i
    %at = tg.mul %item, %c4 : !i
    %at4 = tg.add %lanes, %at : (tensor<4xindex>, !i) -> tensor<4xindex>
    %exists = tg.cmplt %at4, %c13 : (tensor<4xindex>, !i) -> tensor<4xi1>
    %lx = tg.index %x[%at4] : (tensor<13xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %v = tg.load %lx alt %zeros gate %exists : tensor<4xf32, #g>, tensor<4xf32>, tensor<4xi1> -> tensor<4xf32>
    %ls = tg.index %shared[%at4] : (tensor<16xf32, #l>, tensor<4xindex>) -> tensor<4xf32, #l>
    %s = tg.store %ls, %v : tensor<4xf32, #l>, tensor<4xf32>
    %b = tg.barrier %s : !tg.void
    %other = tg.sub %c3, %item : !i
    %theirs = tg.mul %other, %c4 : !i
    %theirs4 = tg.add %lanes, %theirs : (tensor<4xindex>, !i) -> tensor<4xindex>
    %lt = tg.index %shared[%theirs4] : (tensor<16xf32, #l>, tensor<4xindex>) -> tensor<4xf32, #l>
    %w = tg.load %lt : tensor<4xf32, #l> -> tensor<4xf32>
    %lo = tg.index %o[%at4] : (tensor<16xf32, #g>, tensor<4xindex>) -> tensor<4xf32, #g>
    %so = tg.store %lo, %w : tensor<4xf32, #g>, tensor<4xf32>
    %k = tg.sink %so : !tg.void
  }
}

// -0 is not made of zero bits, and is stored by the work item.

// CHECK-LABEL:  llvm.func @negative
// CHECK-NOT:    nvvm.cp.async
// CHECK:        llvm.return

tg.program @negative {
  tg.linear {
    %o = tg.param 0 : tensor<4xf32, #g>
    %x = tg.param 1 : tensor<3xf32, #g>
    %shared = tg.buffer 0 : tensor<4xf32, #l>
    %c3 = tg.const 3 : !i
    %c4 = tg.const 4 : !i
    %zero = tg.const -0.0 : tensor<f32>
    %item = tg.special "lidx0" to %c4 : !i
    %exists = tg.cmplt %item, %c3 : (!i, !i) -> tensor<i1>
    %lx = tg.index %x[%item] : (tensor<3xf32, #g>, !i) -> tensor<f32, #g>
    %v = tg.load %lx alt %zero gate %exists : tensor<f32, #g>, tensor<f32>, tensor<i1> -> tensor<f32>
    %ls = tg.index %shared[%item] : (tensor<4xf32, #l>, !i) -> tensor<f32, #l>
    %s = tg.store %ls, %v : tensor<f32, #l>, tensor<f32>
    %b = tg.barrier %s : !tg.void
    %other = tg.sub %c3, %item : !i
    %lt = tg.index %shared[%other] : (tensor<4xf32, #l>, !i) -> tensor<f32, #l>
    %w = tg.load %lt : tensor<f32, #l> -> tensor<f32>
    %lo = tg.index %o[%item] : (tensor<4xf32, #g>, !i) -> tensor<f32, #g>
    %so = tg.store %lo, %w : tensor<f32, #g>, tensor<f32>
    %k = tg.sink %so : !tg.void
  }
}

// RUN: tg-opt %s -p 'tg-render{target="nvidia:sm_90"}' | filecheck %s
// RUN: tg-opt %s -p 'tg-render{target="nvidia:sm_90"}' -t ptx | filecheck %s --check-prefix=PTX
// RUN: tg-opt %s -p 'tg-render{target="nvidia:sm_90" output=cuda}' -t cuda | filecheck %s --check-prefix=CUDA
// RUN: tg-opt %s -p 'tg-render{target="amd:gfx942"}' | filecheck %s --check-prefix=AMD

// More than 48 KiB of LOCAL memory, which no kernel of NVIDIA's may declare: the launch allocates it.
// A buffer begins at a multiple of the target's alignment. AMD's kernels declare up to 64 KiB.

#g = #tg.place<global>
#l = #tg.place<local>
tg.program @k {
  tg.linear {
    %o = tg.param 0 : tensor<4xf32, #g>
    %one = tg.buffer 0 : tensor<1xf32, #l>
    %many = tg.buffer 1 : tensor<12288xf32, #l>
    %c0 = tg.const 0 : tensor<index>
    %v = tg.const 2.0 : tensor<f32>
    %at = tg.index %many[%c0] : (tensor<12288xf32, #l>, tensor<index>) -> tensor<f32, #l>
    %s = tg.store %at, %v : tensor<f32, #l>, tensor<f32>
    %w = tg.load %at : tensor<f32, #l> -> tensor<f32>
    %to = tg.index %o[%c0] : (tensor<4xf32, #g>, tensor<index>) -> tensor<f32, #g>
    %r = tg.store %to, %w : tensor<f32, #g>, tensor<f32>
    tg.sink %r : !tg.void
  }
}
func.func @main(%o: tensor<4xf32, #tg.place<"CUDA", global>>) {
  tg.linear {
    %0 = tg.call @k(%o) : (tensor<4xf32, #tg.place<"CUDA", global>>) -> !tg.void
  }
  func.return
}

// CHECK: llvm.mlir.global external @k$local() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @k
// CHECK-DAG: [[START:%.+]] = llvm.mlir.addressof @k$local : !llvm.ptr<3>
// CHECK-DAG: [[AT:%.+]] = llvm.mlir.constant(128) : i64
// CHECK: llvm.getelementptr [[START]]{{\[}}[[AT]]] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
// CHECK: [[SIZE:%.+]] = llvm.mlir.constant(49280 : i32) : i32
// CHECK: gpu.launch_func @kernels::@k {{.*}} dynamic_shared_memory_size [[SIZE]] args(

// PTX: .extern .shared .align 128 .b8 k$local[];
// PTX: .visible .entry k(

// CUDA: extern __shared__ __align__(128) unsigned char local_memory[];
// CUDA-NEXT: float *one = (float *)(local_memory + 0);
// CUDA-NEXT: float *many = (float *)(local_memory + 128);
// CUDA: many[0] = 2.0f;

// AMD: llvm.mlir.global internal @k.local0() {{.*}} : !llvm.array<4 x i8>
// AMD: llvm.mlir.global internal @k.local1() {{.*}} : !llvm.array<49152 x i8>
// AMD-NOT: dynamic_shared_memory_size

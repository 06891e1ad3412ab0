// RUN: tg-opt %s -p tg-render | filecheck %s

#g = #tg.place<global>
!i = tensor<index>

// Where a gate is false the first element is read instead, and `alt` taken.
tg.program @gated {
  %0 = tg.linear {
    %x = tg.param 0 : tensor<8xf32, #g>
    %o = tg.param 1 : tensor<1xf32, #g>
    %i = tg.param 2 "i" : !i
    %c0 = tg.const 0 : !i
    %c8 = tg.const 8 : !i
    %alt = tg.const 2.0 : tensor<f32>
    %g = tg.cmplt %i, %c8 : (!i, !i) -> tensor<i1>
    %lx = tg.index %x[%i] : (tensor<8xf32, #g>, !i) -> tensor<f32, #g>
    %v = tg.load %lx alt %alt gate %g : tensor<f32, #g>, tensor<f32>, tensor<i1> -> tensor<f32>
    %lo = tg.index %o[%c0] : (tensor<1xf32, #g>, !i) -> tensor<f32, #g>
    %s = tg.store %lo, %v : tensor<f32, #g>, tensor<f32>
    tg.sink %s : !tg.void
  }
}

// CHECK-LABEL: llvm.func @gated(%x: !llvm.ptr, %o: !llvm.ptr, %i: i64) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %0 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %1 = llvm.mlir.constant(8) : i64
// CHECK-NEXT:   %2 = llvm.mlir.constant(2.000000e+00 : f32) : f32
// CHECK-NEXT:   %g = llvm.icmp "slt" %i, %1 : i64
// CHECK-NEXT:   %3 = llvm.select %g, %i, %0 : i1, i64
// CHECK-NEXT:   %4 = llvm.getelementptr %x[%3] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %5 = llvm.load %4 {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:   %v = llvm.select %g, %5, %2 : i1, f32
// CHECK-NEXT:   %6 = llvm.getelementptr %o[%0] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %v, %6 {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

// A buffer that may be empty has no first element: a branch.
tg.program @maybe_empty {
  %0 = tg.linear {
    %n = tg.param 0 "n" min 0 max 8 : !i
    %x = tg.param 1 (%n) : tensor<?xf32, #g>
    %o = tg.param 2 : tensor<1xf32, #g>
    %c0 = tg.const 0 : !i
    %alt = tg.const 2.0 : tensor<f32>
    %g = tg.cmplt %c0, %n : (!i, !i) -> tensor<i1>
    %lx = tg.index %x[%c0] : (tensor<?xf32, #g>, !i) -> tensor<f32, #g>
    %v = tg.load %lx alt %alt gate %g : tensor<f32, #g>, tensor<f32>, tensor<i1> -> tensor<f32>
    %lo = tg.index %o[%c0] : (tensor<1xf32, #g>, !i) -> tensor<f32, #g>
    %s = tg.store %lo, %v : tensor<f32, #g>, tensor<f32>
    tg.sink %s : !tg.void
  }
}

// CHECK-LABEL: llvm.func @maybe_empty(%n: i64, %x_1: !llvm.ptr, %o_1: !llvm.ptr) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %7 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %8 = llvm.mlir.constant(2.000000e+00 : f32) : f32
// CHECK-NEXT:   %g_1 = llvm.icmp "slt" %7, %n : i64
// CHECK-NEXT:   llvm.cond_br %g_1, ^bb1, ^bb2(%8 : f32)
// CHECK-NEXT: ^bb1:
// CHECK-NEXT:   %9 = llvm.getelementptr %x_1[%7] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %10 = llvm.load %9 {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:   llvm.br ^bb2(%10 : f32)
// CHECK-NEXT: ^bb2(%v_1: f32):
// CHECK-NEXT:   %11 = llvm.getelementptr %o_1[%7] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %v_1, %11 {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

// A bool is a byte in memory, of which any but 0 is true.
tg.program @bools {
  %0 = tg.linear {
    %o = tg.param 0 : tensor<1xi1, #g>
    %x = tg.param 1 : tensor<1xi1, #g>
    %c0 = tg.const 0 : !i
    %lx = tg.index %x[%c0] : (tensor<1xi1, #g>, !i) -> tensor<i1, #g>
    %v = tg.load %lx : tensor<i1, #g> -> tensor<i1>
    %w = tg.not %v : tensor<i1>
    %lo = tg.index %o[%c0] : (tensor<1xi1, #g>, !i) -> tensor<i1, #g>
    %s = tg.store %lo, %w : tensor<i1, #g>, tensor<i1>
    tg.sink %s : !tg.void
  }
}

// CHECK-LABEL: llvm.func @bools(%o_2: !llvm.ptr, %x_2: !llvm.ptr) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %12 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %13 = llvm.mlir.constant(0 : i8) : i8
// CHECK-NEXT:   %14 = llvm.mlir.constant(true) : i1
// CHECK-NEXT:   %15 = llvm.getelementptr %x_2[%12] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT:   %16 = llvm.load %15 {alignment = 1 : i64} : !llvm.ptr -> i8
// CHECK-NEXT:   %v_2 = llvm.icmp "ne" %16, %13 : i8
// CHECK-NEXT:   %w = llvm.xor %v_2, %14 : i1
// CHECK-NEXT:   %17 = llvm.zext %w : i1 to i8
// CHECK-NEXT:   %18 = llvm.getelementptr %o_2[%12] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT:   llvm.store %17, %18 {alignment = 1 : i64} : i8, !llvm.ptr
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

// Buffers of a program are on the stack, and zero.
tg.program @buffers {
  %0 = tg.linear {
    %o = tg.param 0 : tensor<1xf32, #g>
    %acc = tg.buffer 0 : tensor<4xf32, #tg.place<reg>>
    %c0 = tg.const 0 : !i
    %c3 = tg.const 3 : !i
    %la = tg.index %acc[%c3] : (tensor<4xf32, #tg.place<reg>>, !i) -> tensor<f32, #tg.place<reg>>
    %v = tg.load %la : tensor<f32, #tg.place<reg>> -> tensor<f32>
    %lo = tg.index %o[%c0] : (tensor<1xf32, #g>, !i) -> tensor<f32, #g>
    %s = tg.store %lo, %v : tensor<f32, #g>, tensor<f32>
    tg.sink %s : !tg.void
  }
}

// CHECK-LABEL: llvm.func @buffers(%o_3: !llvm.ptr) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %19 = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   %20 = llvm.mlir.constant(0 : i8) : i8
// CHECK-NEXT:   %21 = llvm.mlir.constant(16) : i64
// CHECK-NEXT:   %acc = llvm.alloca %19 x !llvm.array<16 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
// CHECK-NEXT:   "llvm.intr.memset"(%acc, %20, %21) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
// CHECK-NEXT:   %22 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %23 = llvm.mlir.constant(3) : i64
// CHECK-NEXT:   %24 = llvm.getelementptr %acc[%23] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %v_3 = llvm.load %24 {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:   %25 = llvm.getelementptr %o_3[%22] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %v_3, %25 {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

// One thread adds by itself.
tg.program @atomic {
  %0 = tg.linear {
    %o = tg.param 0 : tensor<4xf32, #g>
    %one = tg.const 1.0 : tensor<f32>
    %c3 = tg.const 3 : !i
    %lo = tg.index %o[%c3] : (tensor<4xf32, #g>, !i) -> tensor<f32, #g>
    %s = tg.atomicadd %lo, %one : tensor<f32, #g>, tensor<f32>
    tg.sink %s : !tg.void
  }
}

// CHECK-LABEL: llvm.func @atomic(%o_4: !llvm.ptr) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %26 = llvm.mlir.constant(1.000000e+00 : f32) : f32
// CHECK-NEXT:   %27 = llvm.mlir.constant(3) : i64
// CHECK-NEXT:   %28 = llvm.getelementptr %o_4[%27] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %29 = llvm.load %28 {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:   %30 = llvm.fadd %29, %26 : f32
// CHECK-NEXT:   %31 = llvm.getelementptr %o_4[%27] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %30, %31 {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

// Bytes are read as an f32 wherever they are.
tg.program @bytes {
  %0 = tg.linear {
    %o = tg.param 0 : tensor<1xf32, #g>
    %x = tg.param 1 : tensor<16xui8, #g>
    %c0 = tg.const 0 : !i
    %c2 = tg.const 2 : !i
    %f = tg.bitcast %x to f32 : tensor<16xui8, #g> -> tensor<4xf32, #g>
    %lx = tg.index %f[%c2] : (tensor<4xf32, #g>, !i) -> tensor<f32, #g>
    %v = tg.load %lx : tensor<f32, #g> -> tensor<f32>
    %lo = tg.index %o[%c0] : (tensor<1xf32, #g>, !i) -> tensor<f32, #g>
    %s = tg.store %lo, %v : tensor<f32, #g>, tensor<f32>
    tg.sink %s : !tg.void
  }
}

// CHECK-LABEL: llvm.func @bytes(%o_5: !llvm.ptr, %x_3: !llvm.ptr) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %32 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %33 = llvm.mlir.constant(2) : i64
// CHECK-NEXT:   %34 = llvm.getelementptr %x_3[%33] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %v_4 = llvm.load %34 {alignment = 1 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:   %35 = llvm.getelementptr %o_5[%32] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %v_4, %35 {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

// Where several threads may add to a cell, the addition is atomic.
// CHECK-LABEL: llvm.func @atomic_threads.threads
// The calling thread takes the first half of the iterations, the others take the second half.
// CHECK: llvm.call_intrinsic "llvm.thread.pointer"()
// CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} monotonic : !llvm.ptr, i64
// CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} monotonic : !llvm.ptr, f32
tg.program @atomic_threads {
  %0 = tg.linear {
    %o = tg.param 0 : tensor<4xf32, #g>
    %one = tg.const 1.0 : tensor<f32>
    %c3 = tg.const 3 : !i
    %c2 = tg.const 2 : !i
    %t = tg.range 0 thread to %c2 : !i
    %lo = tg.index %o[%c3] : (tensor<4xf32, #g>, !i) -> tensor<f32, #g>
    %s = tg.atomicadd %lo, %one : tensor<f32, #g>, tensor<f32>
    %e = tg.end %s over %t : !tg.void
    tg.sink %e : !tg.void
  }
}

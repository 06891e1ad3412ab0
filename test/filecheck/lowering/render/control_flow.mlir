// RUN: tg-opt %s -p tg-render | filecheck %s

// A loop is tested at its end, and before the first iteration unless that is known to be.

#g = #tg.place<global>
!i = tensor<index>
tg.program @loops {
  %0 = tg.linear {
    %n = tg.param 0 "n" min 0 max 64 : !i
    %o = tg.param 1 : tensor<64xf32, #g>
    %one = tg.const 1.0 : tensor<f32>
    %c4 = tg.const 4 : !i
    %i = tg.range 0 loop to %n : !i
    %j = tg.range 1 loop to %c4 : !i
    %l = tg.index %o[%i] : (tensor<64xf32, #g>, !i) -> tensor<f32, #g>
    %s = tg.store %l, %one : tensor<f32, #g>, tensor<f32>
    %e = tg.end %s over %j, %i : !tg.void
    tg.sink %e : !tg.void
  }
}

// CHECK-LABEL: llvm.func @loops(%n: i64, %o: !llvm.ptr) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %0 = llvm.mlir.constant(1.000000e+00 : f32) : f32
// CHECK-NEXT:   %1 = llvm.mlir.constant(4) : i64
// CHECK-NEXT:   %2 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %3 = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   %4 = llvm.icmp "sgt" %n, %2 : i64
// CHECK-NEXT:   llvm.cond_br %4, ^bb1(%2 : i64), ^bb4
// CHECK-NEXT: ^bb1(%i: i64):
// CHECK-NEXT:   llvm.br ^bb2(%2 : i64)
// CHECK-NEXT: ^bb2(%j: i64):
// CHECK-NEXT:   %5 = llvm.getelementptr %o[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %0, %5 {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NEXT:   %6 = llvm.add %j, %3 : i64
// CHECK-NEXT:   %7 = llvm.icmp "slt" %6, %1 : i64
// CHECK-NEXT:   llvm.cond_br %7, ^bb2(%6 : i64), ^bb3
// CHECK-NEXT: ^bb3:
// CHECK-NEXT:   %8 = llvm.add %i, %3 : i64
// CHECK-NEXT:   %9 = llvm.icmp "slt" %8, %n : i64
// CHECK-NEXT:   llvm.cond_br %9, ^bb1(%8 : i64), ^bb4
// CHECK-NEXT: ^bb4:
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

tg.program @conditional {
  %0 = tg.linear {
    %p = tg.param 0 : tensor<1xi1, #g>
    %o = tg.param 1 : tensor<1xf32, #g>
    %one = tg.const 1.0 : tensor<f32>
    %c0 = tg.const 0 : !i
    %lp = tg.index %p[%c0] : (tensor<1xi1, #g>, !i) -> tensor<i1, #g>
    %g = tg.load %lp : tensor<i1, #g> -> tensor<i1>
    %l = tg.index %o[%c0] : (tensor<1xf32, #g>, !i) -> tensor<f32, #g>
    %begin = tg.if %g : tensor<i1>
    %s = tg.store %l, %one : tensor<f32, #g>, tensor<f32>
    %end = tg.endif %begin
    tg.sink %end : !tg.void
  }
}

// CHECK-LABEL: llvm.func @conditional(%p: !llvm.ptr, %o_1: !llvm.ptr) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %10 = llvm.mlir.constant(1.000000e+00 : f32) : f32
// CHECK-NEXT:   %11 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %12 = llvm.mlir.constant(0 : i8) : i8
// CHECK-NEXT:   %13 = llvm.getelementptr %p[%11] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT:   %14 = llvm.load %13 {alignment = 1 : i64} : !llvm.ptr -> i8
// CHECK-NEXT:   %g = llvm.icmp "ne" %14, %12 : i8
// CHECK-NEXT:   llvm.cond_br %g, ^bb1, ^bb2
// CHECK-NEXT: ^bb1:
// CHECK-NEXT:   %15 = llvm.getelementptr %o_1[%11] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %10, %15 {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NEXT:   llvm.br ^bb2
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

// RUN: tg-opt %s -p tg-render | filecheck %s

// A function calls programs in order; views of the workspace are pointer arithmetic.

#g = #tg.place<global>
#cpu = #tg.place<"CPU", global>
!i = tensor<index>
tg.program @copy {
  %0 = tg.linear {
    %o = tg.param 0 : tensor<4x4xf32, #g>
    %x = tg.param 1 : tensor<4x4xf32, #g>
    %n = tg.param 2 "n" min 0 max 16 : !i
    %fo = tg.reshape %o [16] : tensor<4x4xf32, #g> -> tensor<16xf32, #g>
    %fx = tg.reshape %x [16] : tensor<4x4xf32, #g> -> tensor<16xf32, #g>
    %i = tg.range 0 loop to %n : !i
    %lx = tg.index %fx[%i] : (tensor<16xf32, #g>, !i) -> tensor<f32, #g>
    %v = tg.load %lx : tensor<f32, #g> -> tensor<f32>
    %lo = tg.index %fo[%i] : (tensor<16xf32, #g>, !i) -> tensor<f32, #g>
    %s = tg.store %lo, %v : tensor<f32, #g>, tensor<f32>
    %e = tg.end %s over %i : !tg.void
    tg.sink %e : !tg.void
  }
}

// CHECK-LABEL: llvm.func @copy(%o: !llvm.ptr, %x: !llvm.ptr, %n: i64) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %0 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %1 = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   %2 = llvm.icmp "sgt" %n, %0 : i64
// CHECK-NEXT:   llvm.cond_br %2, ^bb1(%0 : i64), ^bb2
// CHECK-NEXT: ^bb1(%i: i64):
// CHECK-NEXT:   %3 = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   %v = llvm.load %3 {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:   %4 = llvm.getelementptr %o[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:   llvm.store %v, %4 {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NEXT:   %5 = llvm.add %i, %1 : i64
// CHECK-NEXT:   %6 = llvm.icmp "slt" %5, %n : i64
// CHECK-NEXT:   llvm.cond_br %6, ^bb1(%5 : i64), ^bb2
// CHECK-NEXT: ^bb2:
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

func.func @main(%x: tensor<4x4xf32, #cpu>, %n: !i {tg.min = 0 : index, tg.max = 8 : index}, %o: tensor<4x4xf32, #cpu> {tg.output}, %w: tensor<128xui8, #cpu> {tg.workspace}) {
  %two = tg.const 2 : !i
  %nn = tg.mul %n, %two : !i
  %bytes = tg.shrink %w at [64] to [64] : tensor<128xui8, #cpu> -> tensor<64xui8, #cpu>
  %floats = tg.bitcast %bytes to f32 : tensor<64xui8, #cpu> -> tensor<16xf32, #cpu>
  %t = tg.reshape %floats [4, 4] : tensor<16xf32, #cpu> -> tensor<4x4xf32, #cpu>
  %l = tg.linear {
    %c0 = tg.call @copy(%t, %x, %nn) : (tensor<4x4xf32, #cpu>, tensor<4x4xf32, #cpu>, !i) -> !tg.void
    %c1 = tg.call @copy(%o, %t, %nn) : (tensor<4x4xf32, #cpu>, tensor<4x4xf32, #cpu>, !i) -> !tg.void
  }
  func.return
}

// CHECK-LABEL: llvm.func @main(%x_1: !llvm.ptr, %n_1: i64, %o_1: !llvm.ptr, %w: !llvm.ptr) attributes {tg.signature = [
// CHECK-SAME:   {tg.type = tensor<4x4xf32>, tg.hint = "x"},
// CHECK-SAME:   {tg.min = 0 : index, tg.max = 8 : index, tg.type = tensor<index>, tg.hint = "n"},
// CHECK-SAME:   {tg.output, tg.type = tensor<4x4xf32>, tg.hint = "o", tg.written},
// CHECK-SAME:   {tg.workspace, tg.type = tensor<128xui8>, tg.hint = "w", tg.written}], no_unwind} {
// CHECK-NEXT:   %7 = llvm.mlir.constant(2) : i64
// CHECK-NEXT:   %8 = llvm.mlir.constant(64) : i64
// CHECK-NEXT:   %nn = llvm.mul %n_1, %7 : i64
// CHECK-NEXT:   %9 = llvm.getelementptr %w[%8] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT:   llvm.call @copy(%9, %x_1, %nn) : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK-NEXT:   llvm.call @copy(%o_1, %9, %nn) : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

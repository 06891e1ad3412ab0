// RUN: tg-opt %s -p tg-render | filecheck %s

!i = tensor<index>
!s = tensor<i32>
!b = tensor<i1>

// Division never traps, and what is proven of its operands is not tested.
tg.program @division {
  %0 = tg.linear {
    %a = tg.param 0 : !i
    %b = tg.param 1 : !i
    %n = tg.param 2 "n" min 0 max 99 : !i
    %m = tg.param 3 "m" min 1 max 9 : !i
    %c8 = tg.const 8 : !i
    %any = tg.idiv %a, %b : !i
    %positive = tg.mod %n, %m : !i
    %power = tg.idiv %a, %c8 : !i
    %mask = tg.mod %a, %c8 : !i
    tg.sink
  }
}

// CHECK-LABEL: llvm.func @division(%a: i64, %b: i64, %n: i64, %m: i64) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %0 = llvm.mlir.constant(8) : i64
// CHECK-NEXT:   %1 = llvm.mlir.constant(0) : i64
// CHECK-NEXT:   %2 = llvm.mlir.constant(-1) : i64
// CHECK-NEXT:   %3 = llvm.mlir.constant(1) : i64
// CHECK-NEXT:   %4 = llvm.mlir.constant(3) : i64
// CHECK-NEXT:   %5 = llvm.mlir.constant(7) : i64
// CHECK-NEXT:   %6 = llvm.icmp "eq" %b, %1 : i64
// CHECK-NEXT:   %7 = llvm.icmp "eq" %b, %2 : i64
// CHECK-NEXT:   %8 = llvm.or %6, %7 : i1
// CHECK-NEXT:   %9 = llvm.select %8, %3, %b : i1, i64
// CHECK-NEXT:   %10 = llvm.sdiv %a, %9 : i64
// CHECK-NEXT:   %11 = llvm.mul %10, %9 : i64
// CHECK-NEXT:   %12 = llvm.sub %a, %11 : i64
// CHECK-NEXT:   %13 = llvm.xor %12, %9 : i64
// CHECK-NEXT:   %14 = llvm.icmp "slt" %13, %1 : i64
// CHECK-NEXT:   %15 = llvm.icmp "ne" %12, %1 : i64
// CHECK-NEXT:   %16 = llvm.and %15, %14 : i1
// CHECK-NEXT:   %17 = llvm.sext %16 : i1 to i64
// CHECK-NEXT:   %18 = llvm.add %10, %17 : i64
// CHECK-NEXT:   %19 = llvm.icmp "eq" %b, %2 : i64
// CHECK-NEXT:   %20 = llvm.sub %1, %a : i64
// CHECK-NEXT:   %21 = llvm.select %19, %20, %18 : i1, i64
// CHECK-NEXT:   %22 = llvm.icmp "eq" %b, %1 : i64
// CHECK-NEXT:   %any = llvm.select %22, %1, %21 : i1, i64
// CHECK-NEXT:   %positive = llvm.urem %n, %m : i64
// CHECK-NEXT:   %power = llvm.ashr %a, %4 : i64
// CHECK-NEXT:   %mask = llvm.and %a, %5 : i64
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

tg.program @unsigned {
  %0 = tg.linear {
    %a = tg.param 0 : tensor<ui32>
    %b = tg.param 1 : tensor<ui32>
    %q = tg.mod %a, %b : tensor<ui32>
    tg.sink
  }
}

// CHECK-LABEL: llvm.func @unsigned(%a_1: i32, %b_1: i32) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %23 = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:   %24 = llvm.mlir.constant(1 : i32) : i32
// CHECK-NEXT:   %25 = llvm.icmp "eq" %b_1, %23 : i32
// CHECK-NEXT:   %26 = llvm.select %25, %24, %b_1 : i1, i32
// CHECK-NEXT:   %q = llvm.urem %a_1, %26 : i32
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

// A count past the width shifts everything out.
tg.program @shifts {
  %0 = tg.linear {
    %a = tg.param 0 : !s
    %b = tg.param 1 : !s
    %u = tg.param 2 : tensor<ui8>
    %c3 = tg.const 3 : !s
    %l = tg.shl %a, %b : !s
    %r = tg.shr %a, %b : !s
    %lu = tg.shr %u, %b : (tensor<ui8>, !s) -> tensor<ui8>
    %known = tg.shl %a, %c3 : !s
    tg.sink
  }
}

// CHECK-LABEL: llvm.func @shifts(%a_2: i32, %b_2: i32, %u: i8) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %27 = llvm.mlir.constant(3 : i32) : i32
// CHECK-NEXT:   %28 = llvm.mlir.constant(32 : i32) : i32
// CHECK-NEXT:   %29 = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:   %30 = llvm.mlir.constant(31 : i32) : i32
// CHECK-NEXT:   %31 = llvm.mlir.constant(8 : i32) : i32
// CHECK-NEXT:   %32 = llvm.mlir.constant(0 : i8) : i8
// CHECK-NEXT:   %33 = llvm.shl %a_2, %b_2 : i32
// CHECK-NEXT:   %34 = llvm.icmp "ult" %b_2, %28 : i32
// CHECK-NEXT:   %l = llvm.select %34, %33, %29 : i1, i32
// CHECK-NEXT:   %35 = llvm.icmp "ult" %b_2, %28 : i32
// CHECK-NEXT:   %36 = llvm.select %35, %b_2, %30 : i1, i32
// CHECK-NEXT:   %r = llvm.ashr %a_2, %36 : i32
// CHECK-NEXT:   %37 = llvm.trunc %b_2 : i32 to i8
// CHECK-NEXT:   %38 = llvm.lshr %u, %37 : i8
// CHECK-NEXT:   %39 = llvm.icmp "ult" %b_2, %31 : i32
// CHECK-NEXT:   %lu = llvm.select %39, %38, %32 : i1, i8
// CHECK-NEXT:   %known = llvm.shl %a_2, %27 : i32
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

tg.program @casts {
  %0 = tg.linear {
    %f = tg.param 0 : tensor<f32>
    %a = tg.param 1 : !s
    %u = tg.param 2 : tensor<ui8>
    %b = tg.param 3 : !b
    %0 = tg.cast %f to ui8 : tensor<f32> -> tensor<ui8>
    %1 = tg.cast %f to i1 : tensor<f32> -> !b
    %2 = tg.cast %a to i8 : !s -> tensor<i8>
    %3 = tg.cast %a to index : !s -> !i
    %4 = tg.cast %u to f64 : tensor<ui8> -> tensor<f64>
    %5 = tg.cast %b to i32 : !b -> !s
    %6 = tg.cast %a to ui32 : !s -> tensor<ui32>
    %7 = tg.bitcast %f to i32 : tensor<f32> -> !s
    tg.sink
  }
}

// CHECK-LABEL: llvm.func @casts(%f: f32, %a_3: i32, %u_1: i8, %b_3: i1) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %40 = llvm.mlir.constant(0.000000e+00 : f32) : f32
// CHECK-NEXT:   %41 = llvm.call_intrinsic "llvm.fptoui.sat"(%f) : (f32) -> i8
// CHECK-NEXT:   %42 = llvm.fcmp "une" %f, %40 : f32
// CHECK-NEXT:   %43 = llvm.trunc %a_3 : i32 to i8
// CHECK-NEXT:   %44 = llvm.sext %a_3 : i32 to i64
// CHECK-NEXT:   %45 = llvm.uitofp %u_1 : i8 to f64
// CHECK-NEXT:   %46 = llvm.zext %b_3 : i1 to i32
// CHECK-NEXT:   %47 = llvm.bitcast %f : f32 to i32
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

// CMPGE and CMPLE are true where an operand is NaN.
tg.program @floats {
  %0 = tg.linear {
    %a = tg.param 0 : tensor<f32>
    %b = tg.param 1 : tensor<f32>
    %0 = tg.max %a, %b : tensor<f32>
    %1 = tg.recip %a : tensor<f32>
    %2 = tg.cmplt %a, %b : (tensor<f32>, tensor<f32>) -> !b
    %3 = tg.cmpne %a, %b : (tensor<f32>, tensor<f32>) -> !b
    %4 = tg.cmpge %a, %b : (tensor<f32>, tensor<f32>) -> !b
    %5 = tg.cmpeq %a, %b : (tensor<f32>, tensor<f32>) -> !b
    %6 = tg.where %2, %a, %0 : (!b, tensor<f32>, tensor<f32>) -> tensor<f32>
    %7 = tg.mulacc %a, %b, %6 : tensor<f32>
    tg.sink
  }
}

// CHECK-LABEL: llvm.func @floats(%a_4: f32, %b_4: f32) attributes {no_unwind, no_inline} {
// CHECK-NEXT:   %48 = llvm.mlir.constant(1.000000e+00 : f32) : f32
// CHECK-NEXT:   %49 = llvm.intr.maximum(%a_4, %b_4) : (f32, f32) -> f32
// CHECK-NEXT:   %50 = llvm.fdiv %48, %a_4 : f32
// CHECK-NEXT:   %51 = llvm.fcmp "olt" %a_4, %b_4 : f32
// CHECK-NEXT:   %52 = llvm.fcmp "une" %a_4, %b_4 : f32
// CHECK-NEXT:   %53 = llvm.fcmp "uge" %a_4, %b_4 : f32
// CHECK-NEXT:   %54 = llvm.fcmp "oeq" %a_4, %b_4 : f32
// CHECK-NEXT:   %55 = llvm.select %51, %a_4, %49 : i1, f32
// CHECK-NEXT:   %56 = llvm.intr.fma(%a_4, %b_4, %55) : (f32, f32, f32) -> f32
// CHECK-NEXT:   llvm.return
// CHECK-NEXT: }

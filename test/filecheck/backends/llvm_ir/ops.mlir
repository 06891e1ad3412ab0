// RUN: tg-opt %s -t llvm | filecheck %s

// Every operation of the `llvm` dialect that has a translation, by family.

// CHECK: declare i32 @putchar(i32)
llvm.func @putchar(i32) -> i32
// CHECK: declare i32 @printf(ptr, ...)
llvm.func @printf(!llvm.ptr, ...) -> i32

// CHECK: @table = internal constant [3 x i32] [i32 1, i32 2, i32 3], align 16
llvm.mlir.global internal constant @table(dense<[1, 2, 3]> : tensor<3xi32>) {alignment = 16 : i64} : !llvm.array<3 x i32>

// CHECK: @text = private unnamed_addr constant [4 x i8] c"a\22\0Ab"
llvm.mlir.global private unnamed_addr constant @text("a\"\0Ab") : !llvm.array<4 x i8>

// CHECK: @shared = internal addrspace(3) global [64 x float] undef
llvm.mlir.global internal @shared() {addr_space = 3 : i32} : !llvm.array<64 x f32>

// CHECK: @elsewhere = external global double
llvm.mlir.global external @elsewhere() : f64

// CHECK: @nested = global [2 x [2 x float]] [{{\[}}2 x float] [float 1.000000e+00, float 2.000000e+00], [2 x float] [float 3.000000e+00, float 4.000000e+00]]
llvm.mlir.global external @nested(dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>) : !llvm.array<2 x array<2 x f32>>

// CHECK: @cleared = internal global [8 x i64] zeroinitializer
llvm.mlir.global internal @cleared() : !llvm.array<8 x i64> {
  %0 = llvm.mlir.zero : !llvm.array<8 x i64>
  llvm.return %0 : !llvm.array<8 x i64>
}

// CHECK: define i32 @integers(i32 %0, i32 %1) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    %2 = add nuw nsw i32 %0, %1
// CHECK-NEXT:    %3 = sub nsw i32 %2, %1
// CHECK-NEXT:    %4 = mul nuw i32 %3, %1
// CHECK-NEXT:    %5 = shl i32 %4, %1
// CHECK-NEXT:    %6 = udiv i32 %5, %1
// CHECK-NEXT:    %7 = sdiv exact i32 %6, %1
// CHECK-NEXT:    %8 = lshr exact i32 %7, %1
// CHECK-NEXT:    %9 = ashr i32 %8, %1
// CHECK-NEXT:    %10 = urem i32 %9, %1
// CHECK-NEXT:    %11 = srem i32 %10, %1
// CHECK-NEXT:    %12 = and i32 %11, %1
// CHECK-NEXT:    %13 = or disjoint i32 %12, %1
// CHECK-NEXT:    %14 = or i32 %13, %1
// CHECK-NEXT:    %15 = xor i32 %14, %1
// CHECK-NEXT:    %16 = call i32 @llvm.smax.i32(i32 %15, i32 %1)
// CHECK-NEXT:    %17 = call i32 @llvm.smin.i32(i32 %16, i32 %1)
// CHECK-NEXT:    %18 = call i32 @llvm.umax.i32(i32 %17, i32 %1)
// CHECK-NEXT:    %19 = call i32 @llvm.umin.i32(i32 %18, i32 %1)
// CHECK-NEXT:    %20 = call i32 @llvm.fshl.i32(i32 %19, i32 %19, i32 %1)
// CHECK-NEXT:    %21 = call i32 @llvm.fshr.i32(i32 %20, i32 %20, i32 %1)
// CHECK-NEXT:    %22 = freeze i32 %21
// CHECK-NEXT:    ret i32 %22
// CHECK-NEXT:  }
llvm.func @integers(%a: i32, %b: i32) -> i32 {
  %0 = llvm.add %a, %b overflow<nsw, nuw> : i32
  %1 = llvm.sub %0, %b overflow<nsw> : i32
  %2 = llvm.mul %1, %b overflow<nuw> : i32
  %3 = llvm.shl %2, %b : i32
  %4 = llvm.udiv %3, %b : i32
  %5 = llvm.sdiv exact %4, %b : i32
  %6 = llvm.lshr exact %5, %b : i32
  %7 = llvm.ashr %6, %b : i32
  %8 = llvm.urem %7, %b : i32
  %9 = llvm.srem %8, %b : i32
  %10 = llvm.and %9, %b : i32
  %11 = llvm.or disjoint %10, %b : i32
  %12 = llvm.or %11, %b : i32
  %13 = llvm.xor %12, %b : i32
  %14 = llvm.intr.smax(%13, %b) : (i32, i32) -> i32
  %15 = llvm.intr.smin(%14, %b) : (i32, i32) -> i32
  %16 = llvm.intr.umax(%15, %b) : (i32, i32) -> i32
  %17 = llvm.intr.umin(%16, %b) : (i32, i32) -> i32
  %18 = llvm.intr.fshl(%17, %17, %b) : (i32, i32, i32) -> i32
  %19 = llvm.intr.fshr(%18, %18, %b) : (i32, i32, i32) -> i32
  %20 = llvm.freeze %19 : i32
  llvm.return %20 : i32
}

// CHECK: define float @floats(float %0, float %1) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    %2 = fadd float %0, %1
// CHECK-NEXT:    %3 = fsub contract float %2, %1
// CHECK-NEXT:    %4 = fmul reassoc nnan float %3, %1
// CHECK-NEXT:    %5 = fdiv fast float %4, %1
// CHECK-NEXT:    %6 = frem float %5, %1
// CHECK-NEXT:    %7 = fneg float %6
// CHECK-NEXT:    %8 = call float @llvm.fma.f32(float %7, float %0, float %1)
// CHECK-NEXT:    %9 = call float @llvm.fmuladd.f32(float %8, float %0, float %1)
// CHECK-NEXT:    %10 = call float @llvm.maximum.f32(float %9, float %1)
// CHECK-NEXT:    %11 = call float @llvm.minimum.f32(float %10, float %1)
// CHECK-NEXT:    %12 = call nsz float @llvm.maxnum.f32(float %11, float %1)
// CHECK-NEXT:    %13 = call float @llvm.minnum.f32(float %12, float %1)
// CHECK-NEXT:    %14 = call float @llvm.copysign.f32(float %13, float %1)
// CHECK-NEXT:    %15 = call float @llvm.pow.f32(float %14, float %1)
// CHECK-NEXT:    %16 = call float @llvm.fabs.f32(float %15)
// CHECK-NEXT:    %17 = call float @llvm.sqrt.f32(float %16)
// CHECK-NEXT:    %18 = call float @llvm.floor.f32(float %17)
// CHECK-NEXT:    %19 = call float @llvm.ceil.f32(float %18)
// CHECK-NEXT:    %20 = call float @llvm.trunc.f32(float %19)
// CHECK-NEXT:    %21 = call float @llvm.rint.f32(float %20)
// CHECK-NEXT:    %22 = call float @llvm.nearbyint.f32(float %21)
// CHECK-NEXT:    %23 = call float @llvm.round.f32(float %22)
// CHECK-NEXT:    %24 = call float @llvm.roundeven.f32(float %23)
// CHECK-NEXT:    %25 = call float @llvm.exp.f32(float %24)
// CHECK-NEXT:    %26 = call float @llvm.exp2.f32(float %25)
// CHECK-NEXT:    %27 = call float @llvm.log.f32(float %26)
// CHECK-NEXT:    %28 = call float @llvm.log2.f32(float %27)
// CHECK-NEXT:    %29 = call float @llvm.sin.f32(float %28)
// CHECK-NEXT:    %30 = call float @llvm.cos.f32(float %29)
// CHECK-NEXT:    ret float %30
// CHECK-NEXT:  }
llvm.func @floats(%a: f32, %b: f32) -> f32 {
  %0 = llvm.fadd %a, %b : f32
  %1 = llvm.fsub %0, %b {fastmathFlags = #llvm.fastmath<contract>} : f32
  %2 = llvm.fmul %1, %b {fastmathFlags = #llvm.fastmath<reassoc, nnan>} : f32
  %3 = llvm.fdiv %2, %b {fastmathFlags = #llvm.fastmath<fast>} : f32
  %4 = llvm.frem %3, %b : f32
  %5 = llvm.fneg %4 : f32
  %6 = llvm.intr.fma(%5, %a, %b) : (f32, f32, f32) -> f32
  %7 = llvm.intr.fmuladd(%6, %a, %b) : (f32, f32, f32) -> f32
  %8 = llvm.intr.maximum(%7, %b) : (f32, f32) -> f32
  %9 = llvm.intr.minimum(%8, %b) : (f32, f32) -> f32
  %10 = llvm.intr.maxnum(%9, %b) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
  %11 = llvm.intr.minnum(%10, %b) : (f32, f32) -> f32
  %12 = llvm.intr.copysign(%11, %b) : (f32, f32) -> f32
  %13 = llvm.intr.pow(%12, %b) : (f32, f32) -> f32
  %14 = llvm.intr.fabs(%13) : (f32) -> f32
  %15 = llvm.intr.sqrt(%14) : (f32) -> f32
  %16 = llvm.intr.floor(%15) : (f32) -> f32
  %17 = llvm.intr.ceil(%16) : (f32) -> f32
  %18 = llvm.intr.trunc(%17) : (f32) -> f32
  %19 = llvm.intr.rint(%18) : (f32) -> f32
  %20 = llvm.intr.nearbyint(%19) : (f32) -> f32
  %21 = llvm.intr.round(%20) : (f32) -> f32
  %22 = llvm.intr.roundeven(%21) : (f32) -> f32
  %23 = llvm.intr.exp(%22) : (f32) -> f32
  %24 = llvm.intr.exp2(%23) : (f32) -> f32
  %25 = llvm.intr.log(%24) : (f32) -> f32
  %26 = llvm.intr.log2(%25) : (f32) -> f32
  %27 = llvm.intr.sin(%26) : (f32) -> f32
  %28 = llvm.intr.cos(%27) : (f32) -> f32
  llvm.return %28 : f32
}

// CHECK: define <4 x i32> @casts(i32 %0, float %1, ptr %2, bfloat %3, <4 x float> %4) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    %5 = trunc nsw i32 %0 to i8
// CHECK-NEXT:    %6 = zext nneg i8 %5 to i32
// CHECK-NEXT:    %7 = zext i8 %5 to i64
// CHECK-NEXT:    %8 = sext i8 %5 to i64
// CHECK-NEXT:    %9 = fptrunc float %1 to half
// CHECK-NEXT:    %10 = fpext bfloat %3 to float
// CHECK-NEXT:    %11 = fptosi float %1 to i32
// CHECK-NEXT:    %12 = fptoui float %1 to i32
// CHECK-NEXT:    %13 = sitofp i32 %0 to double
// CHECK-NEXT:    %14 = uitofp i32 %0 to double
// CHECK-NEXT:    %15 = bitcast float %1 to i32
// CHECK-NEXT:    %16 = ptrtoint ptr %2 to i64
// CHECK-NEXT:    %17 = inttoptr i64 %16 to ptr
// CHECK-NEXT:    %18 = addrspacecast ptr %17 to ptr addrspace(1)
// CHECK-NEXT:    %19 = call i32 @llvm.fptosi.sat.i32.f32(float %1)
// CHECK-NEXT:    %20 = fptosi <4 x float> %4 to <4 x i32>
// CHECK-NEXT:    ret <4 x i32> %20
// CHECK-NEXT:  }
llvm.func @casts(%a: i32, %f: f32, %p: !llvm.ptr, %b: bf16, %v: vector<4xf32>) -> vector<4xi32> {
  %0 = llvm.trunc %a overflow<nsw> : i32 to i8
  %1 = llvm.zext nneg %0 : i8 to i32
  %2 = llvm.zext %0 : i8 to i64
  %3 = llvm.sext %0 : i8 to i64
  %4 = llvm.fptrunc %f : f32 to f16
  %5 = llvm.fpext %b : bf16 to f32
  %6 = llvm.fptosi %f : f32 to i32
  %7 = llvm.fptoui %f : f32 to i32
  %8 = llvm.sitofp %a : i32 to f64
  %9 = llvm.uitofp %a : i32 to f64
  %10 = llvm.bitcast %f : f32 to i32
  %11 = llvm.ptrtoint %p : !llvm.ptr to i64
  %12 = llvm.inttoptr %11 : i64 to !llvm.ptr
  %13 = llvm.addrspacecast %12 : !llvm.ptr to !llvm.ptr<1>
  %14 = llvm.call_intrinsic "llvm.fptosi.sat.i32.f32"(%f) : (f32) -> i32
  %15 = llvm.fptosi %v : vector<4xf32> to vector<4xi32>
  llvm.return %15 : vector<4xi32>
}

// CHECK: define <4 x float> @comparisons(i32 %0, float %1, <4 x float> %2, <4 x i32> %3) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    %4 = icmp slt i32 %0, %0
// CHECK-NEXT:    %5 = icmp uge <4 x i32> %3, %3
// CHECK-NEXT:    %6 = fcmp true float %1, %1
// CHECK-NEXT:    %7 = fcmp nnan une <4 x float> %2, %2
// CHECK-NEXT:    %8 = select i1 %4, <4 x float> %2, <4 x float> %2
// CHECK-NEXT:    %9 = select nnan <4 x i1> %7, <4 x float> %8, <4 x float> %2
// CHECK-NEXT:    ret <4 x float> %9
// CHECK-NEXT:  }
llvm.func @comparisons(%a: i32, %f: f32, %v: vector<4xf32>, %w: vector<4xi32>) -> vector<4xf32> {
  %0 = llvm.icmp "slt" %a, %a : i32
  %1 = llvm.icmp "uge" %w, %w : vector<4xi32>
  %2 = llvm.fcmp "_true" %f, %f : f32
  %3 = llvm.fcmp "une" %v, %v {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>
  %4 = llvm.select %0, %v, %v : i1, vector<4xf32>
  %5 = llvm.select %3, %4, %v {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xi1>, vector<4xf32>
  llvm.return %5 : vector<4xf32>
}

// CHECK: define <2 x float> @constants(ptr %0, <4 x float> %1) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    store i8 -1, ptr %0
// CHECK-NEXT:    store i1 true, ptr %0
// CHECK-NEXT:    store i64 4294967296, ptr %0
// CHECK-NEXT:    store <4 x i32> <i32 1, i32 -2, i32 3, i32 4>, ptr %0
// CHECK-NEXT:    store <4 x float> splat (float 0x3FB99999A0000000), ptr %0
// CHECK-NEXT:    store <4 x float> zeroinitializer, ptr %0
// CHECK-NEXT:    store <4 x float> splat (float -0.000000e+00), ptr %0
// CHECK-NEXT:    store <2 x i1> <i1 true, i1 false>, ptr %0
// CHECK-NEXT:    store double 1.000000e-01, ptr %0
// CHECK-NEXT:    store float 1.500000e+00, ptr %0
// CHECK-NEXT:    store float 0x7FF8000000000000, ptr %0
// CHECK-NEXT:    store float 0xFFF0000000000000, ptr %0
// CHECK-NEXT:    store float -0.000000e+00, ptr %0
// CHECK-NEXT:    store float 0x36A0000000000000, ptr %0
// CHECK-NEXT:    store bfloat 0xR3DCD, ptr %0
// CHECK-NEXT:    store half 0xH2E66, ptr %0
// CHECK-NEXT:    store double 0x7FF8000000000ABC, ptr %0
// CHECK-NEXT:    store <4 x float> zeroinitializer, ptr %0
// CHECK-NEXT:    store ptr null, ptr %0
// CHECK-NEXT:    store i32 0, ptr %0
// CHECK-NEXT:    store <4 x float> undef, ptr %0
// CHECK-NEXT:    store float poison, ptr %0
// CHECK-NEXT:    %2 = shufflevector <4 x float> %1, <4 x float> splat (float 0x3FB99999A0000000), <4 x i32> <i32 0, i32 4, i32 1, i32 poison>
// CHECK-NEXT:    %3 = shufflevector <4 x float> %2, <4 x float> %1, <2 x i32> zeroinitializer
// CHECK-NEXT:    ret <2 x float> %3
// CHECK-NEXT:  }
llvm.func @constants(%p: !llvm.ptr, %v: vector<4xf32>) -> vector<2xf32> {
  %0 = llvm.mlir.constant(-1 : i8) : i8
  %1 = llvm.mlir.constant(true) : i1
  %2 = llvm.mlir.constant(4294967296) : i64
  %3 = llvm.mlir.constant(dense<[1, -2, 3, 4]> : vector<4xi32>) : vector<4xi32>
  %4 = llvm.mlir.constant(dense<0.1> : vector<4xf32>) : vector<4xf32>
  %5 = llvm.mlir.constant(dense<0.0> : vector<4xf32>) : vector<4xf32>
  %6 = llvm.mlir.constant(dense<-0.0> : vector<4xf32>) : vector<4xf32>
  %7 = llvm.mlir.constant(dense<[true, false]> : vector<2xi1>) : vector<2xi1>
  %8 = llvm.mlir.constant(0.1 : f64) : f64
  %9 = llvm.mlir.constant(1.5 : f32) : f32
  %10 = llvm.mlir.constant(0x7FC00000 : f32) : f32
  %11 = llvm.mlir.constant(0xFF800000 : f32) : f32
  %12 = llvm.mlir.constant(-0.0 : f32) : f32
  %13 = llvm.mlir.constant(1.0e-45 : f32) : f32
  %14 = llvm.mlir.constant(0x3DCD : bf16) : bf16
  %15 = llvm.mlir.constant(0x2E66 : f16) : f16
  %16 = llvm.mlir.constant(0x7FF8000000000ABC : f64) : f64
  %17 = llvm.mlir.zero : vector<4xf32>
  %18 = llvm.mlir.zero : !llvm.ptr
  %19 = llvm.mlir.zero : i32
  %20 = llvm.mlir.undef : vector<4xf32>
  %21 = llvm.mlir.poison : f32
  llvm.store %0, %p : i8, !llvm.ptr
  llvm.store %1, %p : i1, !llvm.ptr
  llvm.store %2, %p : i64, !llvm.ptr
  llvm.store %3, %p : vector<4xi32>, !llvm.ptr
  llvm.store %4, %p : vector<4xf32>, !llvm.ptr
  llvm.store %5, %p : vector<4xf32>, !llvm.ptr
  llvm.store %6, %p : vector<4xf32>, !llvm.ptr
  llvm.store %7, %p : vector<2xi1>, !llvm.ptr
  llvm.store %8, %p : f64, !llvm.ptr
  llvm.store %9, %p : f32, !llvm.ptr
  llvm.store %10, %p : f32, !llvm.ptr
  llvm.store %11, %p : f32, !llvm.ptr
  llvm.store %12, %p : f32, !llvm.ptr
  llvm.store %13, %p : f32, !llvm.ptr
  llvm.store %14, %p : bf16, !llvm.ptr
  llvm.store %15, %p : f16, !llvm.ptr
  llvm.store %16, %p : f64, !llvm.ptr
  llvm.store %17, %p : vector<4xf32>, !llvm.ptr
  llvm.store %18, %p : !llvm.ptr, !llvm.ptr
  llvm.store %19, %p : i32, !llvm.ptr
  llvm.store %20, %p : vector<4xf32>, !llvm.ptr
  llvm.store %21, %p : f32, !llvm.ptr
  %22 = llvm.shufflevector %v, %4 [0, 4, 1, -1] : vector<4xf32>
  %23 = llvm.shufflevector %22, %v [0, 0] : vector<4xf32>
  llvm.return %23 : vector<2xf32>
}

// CHECK: define float @vectors(<8 x float> %0, <8 x i32> %1, float %2, i32 %3) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    %4 = insertelement <8 x float> %0, float %2, i32 %3
// CHECK-NEXT:    %5 = extractelement <8 x float> %4, i32 %3
// CHECK-NEXT:    %6 = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %1)
// CHECK-NEXT:    %7 = call i32 @llvm.vector.reduce.mul.v8i32(<8 x i32> %1)
// CHECK-NEXT:    %8 = call i32 @llvm.vector.reduce.and.v8i32(<8 x i32> %1)
// CHECK-NEXT:    %9 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %1)
// CHECK-NEXT:    %10 = call i32 @llvm.vector.reduce.xor.v8i32(<8 x i32> %1)
// CHECK-NEXT:    %11 = call i32 @llvm.vector.reduce.smax.v8i32(<8 x i32> %1)
// CHECK-NEXT:    %12 = call i32 @llvm.vector.reduce.smin.v8i32(<8 x i32> %1)
// CHECK-NEXT:    %13 = call i32 @llvm.vector.reduce.umax.v8i32(<8 x i32> %1)
// CHECK-NEXT:    %14 = call i32 @llvm.vector.reduce.umin.v8i32(<8 x i32> %1)
// CHECK-NEXT:    %15 = call float @llvm.vector.reduce.fmax.v8f32(<8 x float> %0)
// CHECK-NEXT:    %16 = call float @llvm.vector.reduce.fmin.v8f32(<8 x float> %0)
// CHECK-NEXT:    %17 = call float @llvm.vector.reduce.fmaximum.v8f32(<8 x float> %0)
// CHECK-NEXT:    %18 = call nnan float @llvm.vector.reduce.fminimum.v8f32(<8 x float> %0)
// CHECK-NEXT:    %19 = call reassoc float @llvm.vector.reduce.fadd.v8f32(float %2, <8 x float> %0)
// CHECK-NEXT:    %20 = call float @llvm.vector.reduce.fmul.v8f32(float %2, <8 x float> %0)
// CHECK-NEXT:    ret float %20
// CHECK-NEXT:  }
llvm.func @vectors(%v: vector<8xf32>, %w: vector<8xi32>, %f: f32, %i: i32) -> f32 {
  %0 = llvm.insertelement %f, %v[%i : i32] : vector<8xf32>
  %1 = llvm.extractelement %0[%i : i32] : vector<8xf32>
  %2 = "llvm.intr.vector.reduce.add"(%w) : (vector<8xi32>) -> i32
  %3 = "llvm.intr.vector.reduce.mul"(%w) : (vector<8xi32>) -> i32
  %4 = "llvm.intr.vector.reduce.and"(%w) : (vector<8xi32>) -> i32
  %5 = "llvm.intr.vector.reduce.or"(%w) : (vector<8xi32>) -> i32
  %6 = "llvm.intr.vector.reduce.xor"(%w) : (vector<8xi32>) -> i32
  %7 = "llvm.intr.vector.reduce.smax"(%w) : (vector<8xi32>) -> i32
  %8 = "llvm.intr.vector.reduce.smin"(%w) : (vector<8xi32>) -> i32
  %9 = "llvm.intr.vector.reduce.umax"(%w) : (vector<8xi32>) -> i32
  %10 = "llvm.intr.vector.reduce.umin"(%w) : (vector<8xi32>) -> i32
  %11 = llvm.intr.vector.reduce.fmax(%v) : (vector<8xf32>) -> f32
  %12 = llvm.intr.vector.reduce.fmin(%v) : (vector<8xf32>) -> f32
  %13 = llvm.intr.vector.reduce.fmaximum(%v) : (vector<8xf32>) -> f32
  %14 = llvm.intr.vector.reduce.fminimum(%v) {fastmathFlags = #llvm.fastmath<nnan>} : (vector<8xf32>) -> f32
  %15 = "llvm.intr.vector.reduce.fadd"(%f, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<8xf32>) -> f32
  %16 = "llvm.intr.vector.reduce.fmul"(%f, %v) <{fastmathFlags = #llvm.fastmath<none>}> : (f32, vector<8xf32>) -> f32
  llvm.return %16 : f32
}

// CHECK: define float @aggregates({ i32, [2 x float] } %0, float %1) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    %2 = insertvalue { i32, [2 x float] } %0, float %1, 1, 0
// CHECK-NEXT:    %3 = extractvalue { i32, [2 x float] } %2, 1, 1
// CHECK-NEXT:    ret float %3
// CHECK-NEXT:  }
llvm.func @aggregates(%s: !llvm.struct<(i32, array<2 x f32>)>, %f: f32) -> f32 {
  %0 = llvm.insertvalue %f, %s[1, 0] : !llvm.struct<(i32, array<2 x f32>)>
  %1 = llvm.extractvalue %0[1, 1] : !llvm.struct<(i32, array<2 x f32>)>
  llvm.return %1 : f32
}

// CHECK: define void @memory(ptr %0, ptr addrspace(3) %1, i64 %2, <8 x float> %3, <8 x i1> %4, i8 %5) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    %6 = alloca float, i64 4, align 64
// CHECK-NEXT:    %7 = getelementptr inbounds { i32, [4 x float] }, ptr %0, i64 %2, i32 1, i32 2
// CHECK-NEXT:    %8 = getelementptr float, ptr addrspace(3) %1, i64 %2
// CHECK-NEXT:    %9 = load float, ptr %7
// CHECK-NEXT:    %10 = load float, ptr addrspace(3) %8, align 4, !nontemporal !0
// CHECK-NEXT:    %11 = load atomic volatile i32, ptr %0 syncscope("agent") acquire, align 4
// CHECK-NEXT:    %12 = load i32, ptr %0, !invariant.load !1
// CHECK-NEXT:    store float %9, ptr %6
// CHECK-NEXT:    store <8 x float> %3, ptr %0, align 32, !nontemporal !0
// CHECK-NEXT:    store atomic volatile i32 %11, ptr %0 release, align 4
// CHECK-NEXT:    %13 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %0, i32 4, <8 x i1> %4, <8 x float> %3)
// CHECK-NEXT:    call void @llvm.masked.store.v8f32.p0(<8 x float> %13, ptr %0, i32 4, <8 x i1> %4)
// CHECK-NEXT:    call void @llvm.memcpy.p0.p0.i64(ptr %0, ptr %6, i64 %2, i1 false)
// CHECK-NEXT:    call void @llvm.memset.p0.i64(ptr %0, i8 %5, i64 %2, i1 true)
// CHECK-NEXT:    call void @llvm.prefetch.p0(ptr %0, i32 0, i32 3, i32 1)
// CHECK-NEXT:    %14 = call ptr @llvm.stacksave.p0()
// CHECK-NEXT:    call void @llvm.stackrestore.p0(ptr %14)
// CHECK-NEXT:    %15 = getelementptr [3 x i32], ptr @table, i32 0, i64 %2
// CHECK-NEXT:    store ptr %15, ptr addrspace(3) @shared
// CHECK-NEXT:    ret void
// CHECK-NEXT:  }
llvm.func @memory(%p: !llvm.ptr, %q: !llvm.ptr<3>, %i: i64, %v: vector<8xf32>, %m: vector<8xi1>, %b: i8) {
  %0 = llvm.mlir.constant(4 : i64) : i64
  %1 = llvm.alloca %0 x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  %2 = llvm.getelementptr inbounds %p[%i, 1, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(i32, array<4 x f32>)>
  %3 = llvm.getelementptr %q[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
  %4 = llvm.load %2 : !llvm.ptr -> f32
  %5 = llvm.load %3 {alignment = 4 : i64, nontemporal} : !llvm.ptr<3> -> f32
  %6 = llvm.load volatile %p atomic syncscope("agent") acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  %7 = llvm.load %p invariant : !llvm.ptr -> i32
  llvm.store %4, %1 : f32, !llvm.ptr
  llvm.store %v, %p {alignment = 32 : i64, nontemporal} : vector<8xf32>, !llvm.ptr
  llvm.store volatile %6, %p atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  %8 = llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  llvm.intr.masked.store %8, %p, %m {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
  "llvm.intr.memcpy"(%p, %1, %i) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memset"(%p, %b, %i) <{isVolatile = true}> : (!llvm.ptr, i8, i64) -> ()
  "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
  %9 = llvm.intr.stacksave : !llvm.ptr
  llvm.intr.stackrestore %9 : !llvm.ptr
  %10 = llvm.mlir.addressof @table : !llvm.ptr
  %11 = llvm.mlir.addressof @shared : !llvm.ptr<3>
  %12 = llvm.getelementptr %10[0, %i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<3 x i32>
  llvm.store %12, %11 : !llvm.ptr, !llvm.ptr<3>
  llvm.return
}

// CHECK: define i1 @atomics(ptr %0, float %1, i32 %2) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    %3 = atomicrmw fadd ptr %0, float %1 monotonic
// CHECK-NEXT:    %4 = atomicrmw volatile and ptr %0, i32 %2 syncscope("agent") seq_cst, align 8
// CHECK-NEXT:    %5 = cmpxchg weak volatile ptr %0, i32 %2, i32 %4 acq_rel monotonic
// CHECK-NEXT:    %6 = extractvalue { i32, i1 } %5, 1
// CHECK-NEXT:    fence seq_cst
// CHECK-NEXT:    fence syncscope("agent") acquire
// CHECK-NEXT:    ret i1 %6
// CHECK-NEXT:  }
llvm.func @atomics(%p: !llvm.ptr, %f: f32, %i: i32) -> i1 {
  %0 = llvm.atomicrmw fadd %p, %f monotonic : !llvm.ptr, f32
  %1 = llvm.atomicrmw volatile _and %p, %i syncscope("agent") seq_cst {alignment = 8 : i64} : !llvm.ptr, i32
  %2 = llvm.cmpxchg weak volatile %p, %i, %1 acq_rel monotonic : !llvm.ptr, i32
  %3 = llvm.extractvalue %2[1] : !llvm.struct<(i32, i1)>
  llvm.fence seq_cst
  llvm.fence syncscope("agent") acquire
  llvm.return %3 : i1
}

// CHECK: define i32 @calls(ptr %0, i32 %1, double %2) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    %3 = call i32 @putchar(i32 %1)
// CHECK-NEXT:    %4 = call i32 (ptr, ...) @printf(ptr %0, double %2)
// CHECK-NEXT:    %5 = call i32 %0(i32 %4)
// CHECK-NEXT:    %6 = call fastcc i32 @fast(i32 %5)
// CHECK-NEXT:    call void @barrier()
// CHECK-NEXT:    %7 = call i32 asm sideeffect "mov $1, $0", "=r,r"(i32 %6)
// CHECK-NEXT:    ret i32 %7
// CHECK-NEXT:  }
llvm.func @calls(%p: !llvm.ptr, %i: i32, %f: f64) -> i32 {
  %0 = llvm.call @putchar(%i) : (i32) -> i32
  %1 = llvm.call @printf(%p, %f) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, f64) -> i32
  %2 = llvm.call %p(%1) : !llvm.ptr, (i32) -> i32
  %3 = llvm.call fastcc @fast(%2) : (i32) -> i32
  llvm.call @barrier() : () -> ()
  %4 = llvm.inline_asm has_side_effects "mov $1, $0", "=r,r" %3 : (i32) -> i32
  llvm.return %4 : i32
}

// CHECK: define internal fastcc i32 @fast(i32 %0) noinline {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    ret i32 %0
// CHECK-NEXT:  }
llvm.func internal fastcc @fast(%i: i32) -> i32 attributes {no_inline} {
  llvm.return %i : i32
}

// CHECK: define hidden void @barrier() nounwind nofree "key"="value" "target-cpu"="znver4" {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    unreachable
// CHECK-NEXT:  }
llvm.func hidden @barrier() attributes {no_unwind, passthrough = ["nofree", ["key", "value"]], target_cpu = "znver4"} {
  llvm.unreachable
}

// CHECK: define zeroext i8 @parameters(ptr align 64 noalias readonly %0, ptr dereferenceable(16) nocapture %1, i8 zeroext %2) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    ret i8 %2
// CHECK-NEXT:  }
llvm.func @parameters(%a: !llvm.ptr {llvm.noalias, llvm.readonly, llvm.align = 64 : i64}, %b: !llvm.ptr {llvm.nocapture, llvm.dereferenceable = 16 : i64, other.attribute}, %c: i8 {llvm.zeroext}) -> (i8 {llvm.zeroext}) {
  llvm.return %c : i8
}

// CHECK: define i64 @loop(i64 %0) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    br label %bb1
// CHECK-NEXT:  bb1:
// CHECK-NEXT:    %1 = phi i64 [ 0, %bb0 ], [ %4, %bb2 ]
// CHECK-NEXT:    %2 = phi i64 [ 0, %bb0 ], [ %5, %bb2 ]
// CHECK-NEXT:    %3 = icmp slt i64 %1, %0
// CHECK-NEXT:    br i1 %3, label %bb2, label %bb3
// CHECK-NEXT:  bb2:
// CHECK-NEXT:    %4 = add i64 %1, 1
// CHECK-NEXT:    %5 = add i64 %2, %1
// CHECK-NEXT:    br label %bb1
// CHECK-NEXT:  bb3:
// CHECK-NEXT:    %6 = phi i64 [ %2, %bb1 ]
// CHECK-NEXT:    ret i64 %6
// CHECK-NEXT:  }
llvm.func @loop(%n: i64) -> i64 {
  %0 = llvm.mlir.constant(0 : i64) : i64
  %1 = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%0, %0 : i64, i64)
^head(%i: i64, %sum: i64):
  %2 = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %2, ^body, ^exit(%sum : i64)
^body:
  %3 = llvm.add %i, %1 : i64
  %4 = llvm.add %sum, %i : i64
  llvm.br ^head(%3, %4 : i64, i64)
^exit(%r: i64):
  llvm.return %r : i64
}

// The two edges of one branch meet with different values, then with the same.
// CHECK: define i32 @meet(i1 %0, i32 %1, i32 %2) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    br i1 %0, label %bb1, label %bb0.else
// CHECK-NEXT:  bb0.else:
// CHECK-NEXT:    br label %bb1
// CHECK-NEXT:  bb1:
// CHECK-NEXT:    %3 = phi i32 [ %1, %bb0 ], [ %2, %bb0.else ]
// CHECK-NEXT:    br i1 %0, label %bb2, label %bb2
// CHECK-NEXT:  bb2:
// CHECK-NEXT:    %4 = phi i32 [ %3, %bb1 ], [ %3, %bb1 ]
// CHECK-NEXT:    ret i32 %4
// CHECK-NEXT:  }
llvm.func @meet(%c: i1, %a: i32, %b: i32) -> i32 {
  llvm.cond_br %c, ^first(%a : i32), ^first(%b : i32)
^first(%0: i32):
  llvm.cond_br %c, ^second(%0 : i32), ^second(%0 : i32)
^second(%1: i32):
  llvm.return %1 : i32
}

// A block that nothing leads to is left out.
// CHECK: define i32 @unreached(i32 %0) {
// CHECK-NEXT:  bb0:
// CHECK-NEXT:    ret i32 %0
// CHECK-NEXT:  }
llvm.func @unreached(%a: i32) -> i32 {
  llvm.return %a : i32
^never(%0: i32):
  llvm.br ^never(%0 : i32)
}

// CHECK: !0 = !{i32 1}
// CHECK: !1 = !{}

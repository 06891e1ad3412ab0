; A softmax of rows, as compiled programs are: loops, vectors, a selected index, a call.
;
; It is never called. Code is generated for it while the compiler is imported, so that LLVM has done
; by then what it does once in each process.

declare float @llvm.maximum.f32(float, float)
declare <8 x float> @llvm.roundeven.v8f32(<8 x float>)
declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define void @softmax(ptr %out, ptr %in, ptr %index) nounwind noinline {
  %most.at = alloca float, align 64
  %row = alloca <8 x float>, align 64
  call void @llvm.memset.p0.i64(ptr %row, i8 0, i64 32, i1 false)
  br label %rows

rows:
  %i = phi i64 [ 0, %0 ], [ %i.next, %store ]
  %number.at = getelementptr i32, ptr %index, i64 %i
  %number = load i32, ptr %number.at, align 4
  %wide = sext i32 %number to i64
  %is.low = icmp sge i64 %wide, 0
  %is.high = icmp slt i64 %wide, 64
  %is.valid = and i1 %is.low, %is.high
  %selected = select i1 %is.valid, i64 %wide, i64 0
  %start = mul i64 %selected, 8
  %in.at = getelementptr float, ptr %in, i64 %start
  %x = load <8 x float>, ptr %in.at, align 4
  store float 0xFFF0000000000000, ptr %most.at, align 4
  br label %maximum

maximum:
  %j = phi i64 [ 0, %rows ], [ %j.next, %maximum ]
  %at = add i64 %start, %j
  %element.at = getelementptr float, ptr %in, i64 %at
  %element = load float, ptr %element.at, align 4
  %most = load float, ptr %most.at, align 4
  %more = call float @llvm.maximum.f32(float %most, float %element)
  store float %more, ptr %most.at, align 4
  %j.next = add i64 %j, 1
  %is.more = icmp slt i64 %j.next, 8
  br i1 %is.more, label %maximum, label %exponentials

exponentials:
  %largest = load float, ptr %most.at, align 4
  %one = insertelement <8 x float> poison, float %largest, i64 0
  %all = shufflevector <8 x float> %one, <8 x float> %one, <8 x i32> zeroinitializer
  %below = fsub <8 x float> %x, %all
  %power = fmul <8 x float> %below, splat (float 1.5)
  %whole = call <8 x float> @llvm.roundeven.v8f32(<8 x float> %power)
  %part = fsub <8 x float> %power, %whole
  %p.1 = call <8 x float> @llvm.fma.v8f32(<8 x float> %part, <8 x float> splat (float 0.25), <8 x float> splat (float 0.5))
  %p.2 = call <8 x float> @llvm.fma.v8f32(<8 x float> %p.1, <8 x float> %part, <8 x float> splat (float 1.0))
  %exponent = fptosi <8 x float> %whole to <8 x i32>
  %shifted = shl <8 x i32> %exponent, splat (i32 23)
  %bits = bitcast <8 x float> %p.2 to <8 x i32>
  %scaled = add <8 x i32> %bits, %shifted
  %e = bitcast <8 x i32> %scaled to <8 x float>
  %is.normal = fcmp ogt <8 x float> %power, splat (float -126.0)
  %y = select <8 x i1> %is.normal, <8 x float> %e, <8 x float> zeroinitializer
  store <8 x float> %y, ptr %row, align 64
  store float 0.0, ptr %most.at, align 4
  br label %sum

sum:
  %k = phi i64 [ 0, %exponentials ], [ %k.next, %sum ]
  %term.at = getelementptr float, ptr %row, i64 %k
  %term = load float, ptr %term.at, align 4
  %old = load float, ptr %most.at, align 4
  %new = fadd float %old, %term
  store float %new, ptr %most.at, align 4
  %k.next = add i64 %k, 1
  %is.left = icmp slt i64 %k.next, 8
  br i1 %is.left, label %sum, label %store

store:
  %total = load float, ptr %most.at, align 4
  %first = insertelement <8 x float> poison, float %total, i64 0
  %totals = shufflevector <8 x float> %first, <8 x float> %first, <8 x i32> zeroinitializer
  %quotient = fdiv <8 x float> %y, %totals
  %out.start = mul i64 %i, 8
  %out.at = getelementptr float, ptr %out, i64 %out.start
  store <8 x float> %quotient, ptr %out.at, align 4
  %i.next = add i64 %i, 1
  %is.next = icmp slt i64 %i.next, 4
  br i1 %is.next, label %rows, label %end

end:
  ret void
}

define void @frame(ptr %frame) {
  %out = load ptr, ptr %frame
  %in.at = getelementptr i64, ptr %frame, i64 1
  %in = load ptr, ptr %in.at
  %index.at = getelementptr i64, ptr %frame, i64 2
  %index = load ptr, ptr %index.at
  call void @softmax(ptr %out, ptr %in, ptr %index)
  ret void
}

; The kernels of `peaks.py`. A vector of WIDE elements is as many registers as there are independent
; chains of additions; one of UNROLLED elements is what a step of a loop over memory moves.

declare <${WIDE} x float> @llvm.fma.v${WIDE}f32(<${WIDE} x float>, <${WIDE} x float>, <${WIDE} x float>)

define void @fma(ptr %in, ptr %out, i64 %count) {
  %one = load float, ptr %in, align 64
  %first = insertelement <${WIDE} x float> zeroinitializer, float %one, i64 0
  %x = shufflevector <${WIDE} x float> %first, <${WIDE} x float> zeroinitializer, <${WIDE} x i32> zeroinitializer
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi <${WIDE} x float> [ zeroinitializer, %0 ], [ %total, %loop ]
  %total = call <${WIDE} x float> @llvm.fma.v${WIDE}f32(<${WIDE} x float> %x, <${WIDE} x float> %x, <${WIDE} x float> %sum)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  store <${WIDE} x float> %total, ptr %out, align 64
  ret void
}

; Additions that wait for one another: a cycle each.
define void @count(ptr %in, ptr %out, i64 %count) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %next = add i64 %i, 1
  call void asm sideeffect "", "r"(i64 %next)
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}

define void @read(ptr %in, ptr %out, i64 %count) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi <${UNROLLED} x float> [ zeroinitializer, %0 ], [ %total, %loop ]
  %at = getelementptr <${UNROLLED} x float>, ptr %in, i64 %i
  %value = load <${UNROLLED} x float>, ptr %at, align 64
  %total = fadd <${UNROLLED} x float> %sum, %value
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  store <${UNROLLED} x float> %total, ptr %out, align 64
  ret void
}

define void @copy(ptr %in, ptr %out, i64 %count) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %at = getelementptr <${UNROLLED} x float>, ptr %in, i64 %i
  %value = load <${UNROLLED} x float>, ptr %at, align 64
  %to = getelementptr <${UNROLLED} x float>, ptr %out, i64 %i
  store <${UNROLLED} x float> %value, ptr %to, align 64, !nontemporal !0
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}

!0 = !{i32 1}

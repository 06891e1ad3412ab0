; The reduction of the values of all processes in their order: a function of a plan of `segment.ll`.
; Substituted: the type of an element, its bytes, and the instruction that combines %a and %b to %c.
;
; The first two values have a loop of their own: if the result were one of its operands, LLVM would
; not know that arrays do not overlap, and make no vectors.

define void @tg_reduce(ptr %to, i64 %part, ptr %from, i64 %row.bytes, i64 %slots, i64 %members, i64 %rows, i64 %bytes) {
  %n = udiv i64 %bytes, ${SIZE}
  br label %row

row:
  %i = phi i64 [ 0, %0 ], [ %i.next, %row.end ]
  %is.last = icmp eq i64 %i, %rows
  br i1 %is.last, label %end, label %pair

pair:
  %to.start = mul i64 %i, %part
  %to.row = getelementptr i8, ptr %to, i64 %to.start
  %row.start = mul i64 %i, %row.bytes
  %a = getelementptr i8, ptr %from, i64 %row.start
  %b = getelementptr i8, ptr %a, i64 %slots
  call void @combine(ptr %to.row, ptr %a, ptr %b, i64 %n)
  br label %member

member:
  %j = phi i64 [ 2, %pair ], [ %j.next, %more ]
  %is.done = icmp uge i64 %j, %members
  br i1 %is.done, label %row.end, label %more

more:
  %before = mul i64 %j, %slots
  %next = getelementptr i8, ptr %a, i64 %before
  call void @accumulate(ptr %to.row, ptr %next, i64 %n)
  %j.next = add i64 %j, 1
  br label %member

row.end:
  %i.next = add i64 %i, 1
  br label %row

end:
  ret void
}

define internal void @combine(ptr noalias %to, ptr noalias %from.a, ptr noalias %from.b, i64 %n) noinline {
  %is.empty = icmp eq i64 %n, 0
  br i1 %is.empty, label %end, label %next

next:
  %i = phi i64 [ 0, %0 ], [ %i.next, %next ]
  %a.at = getelementptr ${TYPE}, ptr %from.a, i64 %i
  %a = load ${TYPE}, ptr %a.at
  %b.at = getelementptr ${TYPE}, ptr %from.b, i64 %i
  %b = load ${TYPE}, ptr %b.at
  ${COMBINE}
  %c.at = getelementptr ${TYPE}, ptr %to, i64 %i
  store ${TYPE} %c, ptr %c.at
  %i.next = add nuw i64 %i, 1
  %is.last = icmp eq i64 %i.next, %n
  br i1 %is.last, label %end, label %next

end:
  ret void
}

define internal void @accumulate(ptr noalias %to, ptr noalias %from, i64 %n) noinline {
  %is.empty = icmp eq i64 %n, 0
  br i1 %is.empty, label %end, label %next

next:
  %i = phi i64 [ 0, %0 ], [ %i.next, %next ]
  %a.at = getelementptr ${TYPE}, ptr %to, i64 %i
  %a = load ${TYPE}, ptr %a.at
  %b.at = getelementptr ${TYPE}, ptr %from, i64 %i
  %b = load ${TYPE}, ptr %b.at
  ${COMBINE}
  store ${TYPE} %c, ptr %a.at
  %i.next = add nuw i64 %i, 1
  %is.last = icmp eq i64 %i.next, %n
  br i1 %is.last, label %end, label %next

end:
  ret void
}

; Exchanges between processes that share memory.
;
; Each process has a counter, on a cache line of its own: the number of the last piece that it has
; given. What a process has written to its slot before, others may read when all have given theirs.
; Pieces of even and of odd numbers have different slots: who gives a piece has read the one before.
;
; The segment is a process's view of the memory, of words:
;   0 the counters of all; 1 how many processes there are; 2 its own number among them;
;   3 the number of its piece; 4, 5 the first process's slot for even and for odd numbers;
;   6 the bytes from a process's slot to that of the next one;
;   7 the looks at others before the core is offered to them;
;   8 whether the exchange is complete; 9, 10 the row and the byte at which the piece begins;
;   11 whether it has been given.
;
; The plan says how a value is cut into pieces, and what is made of those of all, in words:
;   0 the function that makes the result, or null; 1 the rows of the value; 2 the bytes of a part;
;   3 the parts of a row; 4 the rows of a piece; 5 its bytes of each part;
;   6 the parts of a row of the result; 7 which part of the others' values this process reads;
;   8 whether it gives a value.

declare i32 @sched_yield()
declare i64 @llvm.umin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal i64 @word(ptr %words, i64 %i) alwaysinline {
  %at = getelementptr i64, ptr %words, i64 %i
  %word = load i64, ptr %at
  ret i64 %word
}

define internal void @set(ptr %words, i64 %i, i64 %word) alwaysinline {
  %at = getelementptr i64, ptr %words, i64 %i
  store i64 %word, ptr %at
  ret void
}

define internal ptr @pointer(ptr %pointers, i64 %i) alwaysinline {
  %at = getelementptr ptr, ptr %pointers, i64 %i
  %pointer = load ptr, ptr %at
  ret ptr %pointer
}

; The counter of a process, and its slot for this piece.

define internal ptr @counter(ptr %segment, i64 %i) alwaysinline {
  %counters = load ptr, ptr %segment
  %bytes = mul i64 %i, ${STRIDE}
  %counter = getelementptr i8, ptr %counters, i64 %bytes
  ret ptr %counter
}

define internal ptr @slot(ptr %segment, i64 %i) alwaysinline {
  %number = call i64 @word(ptr %segment, i64 3)
  %half = and i64 %number, 1
  %first.at = add i64 %half, 4
  %first = call ptr @pointer(ptr %segment, i64 %first.at)
  %stride = call i64 @word(ptr %segment, i64 6)
  %bytes = mul i64 %i, %stride
  %slot = getelementptr i8, ptr %first, i64 %bytes
  ret ptr %slot
}

; The rows of this piece, and its bytes of each part.

define internal i64 @rows(ptr %segment, ptr %plan) alwaysinline {
  %all = call i64 @word(ptr %plan, i64 1)
  %row = call i64 @word(ptr %segment, i64 9)
  %most = call i64 @word(ptr %plan, i64 4)
  %left = sub i64 %all, %row
  %rows = call i64 @llvm.umin.i64(i64 %left, i64 %most)
  ret i64 %rows
}

define internal i64 @bytes(ptr %segment, ptr %plan) alwaysinline {
  %all = call i64 @word(ptr %plan, i64 2)
  %byte = call i64 @word(ptr %segment, i64 10)
  %most = call i64 @word(ptr %plan, i64 5)
  %left = sub i64 %all, %byte
  %bytes = call i64 @llvm.umin.i64(i64 %left, i64 %most)
  ret i64 %bytes
}

; Where this piece begins in an array whose rows have so many parts.

define internal i64 @start(ptr %segment, ptr %plan, i64 %parts) alwaysinline {
  %part = call i64 @word(ptr %plan, i64 2)
  %row = call i64 @word(ptr %segment, i64 9)
  %byte = call i64 @word(ptr %segment, i64 10)
  %parts.before = mul i64 %row, %parts
  %bytes.before = mul i64 %parts.before, %part
  %start = add i64 %bytes.before, %byte
  ret i64 %start
}

; Exchange values, or go on with it: until the exchange is complete, or others let this process wait
; for a piece. The frame has the segment, the plan, the value, and the result.

define void @tg_exchange(ptr %frame) {
  %segment = load ptr, ptr %frame
  %plan = call ptr @pointer(ptr %frame, i64 1)
  call void @set(ptr %segment, i64 8, i64 0)
  %sent.before = call i64 @word(ptr %segment, i64 11)
  %is.sent = icmp ne i64 %sent.before, 0
  br i1 %is.sent, label %look, label %send

send:
  %value = call ptr @pointer(ptr %frame, i64 2)
  call void @give(ptr %segment, ptr %plan, ptr %value)
  call void @set(ptr %segment, i64 11, i64 1)
  br label %look

look:
  %are.here = call i1 @are_here(ptr %segment)
  br i1 %are.here, label %take, label %end

take:
  call void @set(ptr %segment, i64 11, i64 0)
  %make = load ptr, ptr %plan
  %is.made = icmp ne ptr %make, null
  br i1 %is.made, label %make.result, label %advance

make.result:
  %result = call ptr @pointer(ptr %frame, i64 3)
  call void @take(ptr %segment, ptr %plan, ptr %result, ptr %make)
  br label %advance

advance:
  %byte = call i64 @word(ptr %segment, i64 10)
  %bytes = call i64 @word(ptr %plan, i64 5)
  %all.bytes = call i64 @word(ptr %plan, i64 2)
  %byte.next = add i64 %byte, %bytes
  %has.bytes = icmp ult i64 %byte.next, %all.bytes
  br i1 %has.bytes, label %next.byte, label %next.row

next.byte:
  call void @set(ptr %segment, i64 10, i64 %byte.next)
  br label %send

next.row:
  call void @set(ptr %segment, i64 10, i64 0)
  %row = call i64 @word(ptr %segment, i64 9)
  %rows = call i64 @word(ptr %plan, i64 4)
  %all.rows = call i64 @word(ptr %plan, i64 1)
  %row.next = add i64 %row, %rows
  %has.rows = icmp ult i64 %row.next, %all.rows
  %row.new = select i1 %has.rows, i64 %row.next, i64 0
  call void @set(ptr %segment, i64 9, i64 %row.new)
  br i1 %has.rows, label %send, label %complete

complete:
  call void @set(ptr %segment, i64 8, i64 1)
  br label %end

end:
  ret void
}

; Write the next piece of the value to the slot, and announce it.

define internal void @give(ptr %segment, ptr %plan, ptr %value) {
  %before = call i64 @word(ptr %segment, i64 3)
  %number = add i64 %before, 1
  call void @set(ptr %segment, i64 3, i64 %number)
  %own = call i64 @word(ptr %segment, i64 2)
  %slot = call ptr @slot(ptr %segment, i64 %own)
  %gives = call i64 @word(ptr %plan, i64 8)
  %has.value = icmp ne i64 %gives, 0
  br i1 %has.value, label %cut, label %announce

cut:
  %part = call i64 @word(ptr %plan, i64 2)
  %parts = call i64 @word(ptr %plan, i64 3)
  %start = call i64 @start(ptr %segment, ptr %plan, i64 %parts)
  %from = getelementptr i8, ptr %value, i64 %start
  %rows = call i64 @rows(ptr %segment, ptr %plan)
  %bytes = call i64 @bytes(ptr %segment, ptr %plan)
  %count = mul i64 %rows, %parts
  %is.whole = icmp eq i64 %bytes, %part
  br i1 %is.whole, label %whole, label %part.next

whole:
  %size = mul i64 %count, %bytes
  call void @llvm.memcpy.p0.p0.i64(ptr %slot, ptr %from, i64 %size, i1 false)
  br label %announce

part.next:
  %i = phi i64 [ 0, %cut ], [ %i.next, %copy ]
  %is.last = icmp eq i64 %i, %count
  br i1 %is.last, label %announce, label %copy

copy:
  %part.start = mul i64 %i, %part
  %part.from = getelementptr i8, ptr %from, i64 %part.start
  %slot.start = mul i64 %i, %bytes
  %part.to = getelementptr i8, ptr %slot, i64 %slot.start
  call void @llvm.memcpy.p0.p0.i64(ptr %part.to, ptr %part.from, i64 %bytes, i1 false)
  %i.next = add i64 %i, 1
  br label %part.next

announce:
  %mine = call ptr @counter(ptr %segment, i64 %own)
  store atomic i64 %number, ptr %mine release, align 8
  ret void
}

; Make this piece of the result.

define internal void @take(ptr %segment, ptr %plan, ptr %result, ptr %make) {
  %part = call i64 @word(ptr %plan, i64 2)
  %parts = call i64 @word(ptr %plan, i64 3)
  %result.parts = call i64 @word(ptr %plan, i64 6)
  %own.part = call i64 @word(ptr %plan, i64 7)
  %members = call i64 @word(ptr %segment, i64 1)
  %slots = call i64 @word(ptr %segment, i64 6)
  %rows = call i64 @rows(ptr %segment, ptr %plan)
  %bytes = call i64 @bytes(ptr %segment, ptr %plan)
  %start = call i64 @start(ptr %segment, ptr %plan, i64 %result.parts)
  %to = getelementptr i8, ptr %result, i64 %start
  %first = call ptr @slot(ptr %segment, i64 0)
  %own.start = mul i64 %own.part, %bytes
  %from = getelementptr i8, ptr %first, i64 %own.start
  %row.bytes = mul i64 %parts, %bytes
  call void %make(ptr %to, i64 %part, ptr %from, i64 %row.bytes, i64 %slots, i64 %members, i64 %rows, i64 %bytes)
  ret void
}

; A plan's function: parts of the values of all, one after the other in each row.
;
; It writes `bytes` of each part, which begins so many after the one before, from rows that are
; `row.bytes` apart in slots that are `slots` apart.

define void @tg_join(ptr %to, i64 %part, ptr %from, i64 %row.bytes, i64 %slots, i64 %members, i64 %rows, i64 %bytes) {
  br label %row

row:
  %i = phi i64 [ 0, %0 ], [ %i.next, %row.end ]
  %to.row = phi ptr [ %to, %0 ], [ %to.part, %row.end ]
  %is.last = icmp eq i64 %i, %rows
  br i1 %is.last, label %end, label %row.begin

row.begin:
  %row.start = mul i64 %i, %row.bytes
  %from.row = getelementptr i8, ptr %from, i64 %row.start
  br label %member

member:
  %j = phi i64 [ 0, %row.begin ], [ %j.next, %copy ]
  %to.part = phi ptr [ %to.row, %row.begin ], [ %to.next, %copy ]
  %from.part = phi ptr [ %from.row, %row.begin ], [ %from.next, %copy ]
  %is.done = icmp eq i64 %j, %members
  br i1 %is.done, label %row.end, label %copy

copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %to.part, ptr %from.part, i64 %bytes, i1 false)
  %to.next = getelementptr i8, ptr %to.part, i64 %part
  %from.next = getelementptr i8, ptr %from.part, i64 %slots
  %j.next = add i64 %j, 1
  br label %member

row.end:
  %i.next = add i64 %i, 1
  br label %row

end:
  ret void
}

; Whether all have given this piece, after some microseconds at most: the core is offered to other
; processes ${TURNS} times.

define internal i1 @are_here(ptr %segment) {
  %members = call i64 @word(ptr %segment, i64 1)
  %number = call i64 @word(ptr %segment, i64 3)
  %polls = call i64 @word(ptr %segment, i64 7)
  br label %turn

turn:
  %turns = phi i64 [ 1, %0 ], [ %turns.next, %offer ]
  %first = phi i64 [ 0, %0 ], [ %i, %offer ]
  br label %poll

poll:
  %i.first = phi i64 [ %first, %turn ], [ %i, %wait ]
  %looks = phi i64 [ 1, %turn ], [ %looks.next, %wait ]
  br label %look

look:
  %i = phi i64 [ %i.first, %poll ], [ %i.next, %here ]
  %is.met = icmp eq i64 %i, %members
  br i1 %is.met, label %end, label %member

member:
  %theirs = call ptr @counter(ptr %segment, i64 %i)
  %given = load atomic i64, ptr %theirs acquire, align 8
  %is.here = icmp uge i64 %given, %number
  br i1 %is.here, label %here, label %absent

here:
  %i.next = add i64 %i, 1
  br label %look

absent:
  %is.over = icmp uge i64 %looks, %polls
  br i1 %is.over, label %leave, label %wait

wait:
  call void asm sideeffect "${PAUSE}", "~{memory}"()
  %looks.next = add i64 %looks, 1
  br label %poll

leave:
  %is.last = icmp eq i64 %turns, ${TURNS}
  br i1 %is.last, label %end, label %offer

offer:
  %ignored = call i32 @sched_yield()
  %turns.next = add i64 %turns, 1
  br label %turn

end:
  %are.here = icmp eq i64 %i, %members
  ret i1 %are.here
}

; Runs a function on the threads of an OpenMP library.
;
; OpenMP ends the process if it cannot start a thread. So a calling thread first runs a function on as
; many threads of our own, all at the same time. If that succeeds, it uses OpenMP from then on.
;
; `optnone` and `noinline` cut the time that LLVM takes for this file to a fifth; loops run as fast.

; The address of `GOMP_parallel`.
@tg_openmp = external global ptr
; The pthread key of a value per thread: the largest team that OpenMP may start for that thread.
@tg_team = external global i32

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare ptr @pthread_getspecific(i32)
declare i32 @pthread_setspecific(i32, ptr)
declare i32 @sched_yield()
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.usub.sat.i32(i32, i32)

; Shared by the threads of a loop: the body, its context, and a flag that lets them begin.
%work = type { ptr, ptr, i32 }

define internal ptr @thread(ptr %work) #0 {
  %flag = getelementptr %work, ptr %work, i64 0, i32 2
  br label %look

look:
  %begins = load atomic i32, ptr %flag acquire, align 4
  %may = icmp ne i32 %begins, 0
  br i1 %may, label %begin, label %wait

wait:
  %ignored = call i32 @sched_yield()
  br label %look

begin:
  %body = load ptr, ptr %work
  %context.at = getelementptr %work, ptr %work, i64 0, i32 1
  %context = load ptr, ptr %context.at
  call void %body(ptr %context)
  ret ptr null
}

; Run the body on new threads and on this one, on fewer if the system does not start all of them. None
; begins before all exist. Returns whether all could start.
;
; 1024 bounds the array of thread handles on the stack, at 8 KiB.

define internal i1 @run_on_new(ptr %body, ptr %context, i32 %threads) #0 {
  %all = call i32 @llvm.umin.i32(i32 %threads, i32 1024)
  %helpers = call i32 @llvm.usub.sat.i32(i32 %all, i32 1)
  %started = alloca i64, i32 %helpers
  %work = alloca %work
  store ptr %body, ptr %work
  %context.at = getelementptr %work, ptr %work, i64 0, i32 1
  store ptr %context, ptr %context.at
  %flag = getelementptr %work, ptr %work, i64 0, i32 2
  store atomic i32 0, ptr %flag release, align 4
  br label %next

next:
  %i = phi i32 [ 0, %0 ], [ %i.next, %start ]
  %is.last = icmp eq i32 %i, %helpers
  br i1 %is.last, label %run, label %start

start:
  %i.next = add i32 %i, 1
  %thread.at = getelementptr i64, ptr %started, i32 %i
  %error = call i32 @pthread_create(ptr %thread.at, ptr null, ptr @thread, ptr %work)
  %is.started = icmp eq i32 %error, 0
  br i1 %is.started, label %next, label %run

run:
  store atomic i32 1, ptr %flag release, align 4
  call void %body(ptr %context)
  br label %next.join

next.join:
  %j = phi i32 [ 0, %run ], [ %j.next, %join ]
  %is.done = icmp eq i32 %j, %i
  br i1 %is.done, label %done, label %join

join:
  %j.next = add i32 %j, 1
  %joined.at = getelementptr i64, ptr %started, i32 %j
  %joined = load i64, ptr %joined.at
  %status = call i32 @pthread_join(i64 %joined, ptr null)
  br label %next.join

done:
  ret i1 %is.last
}

; The interface is that of `GOMP_parallel`: body, context, threads, flags.

define void @tg_run_openmp(ptr %body, ptr %context, i32 %threads, i32 %flags) #0 {
  %key = load i32, ptr @tg_team
  %team = call ptr @pthread_getspecific(i32 %key)
  %team.word = ptrtoint ptr %team to i64
  %wanted = zext i32 %threads to i64
  %is.known = icmp uge i64 %team.word, %wanted
  br i1 %is.known, label %library, label %try

library:
  %openmp = load ptr, ptr @tg_openmp
  call void %openmp(ptr %body, ptr %context, i32 %threads, i32 %flags)
  ret void

try:
  %can = call i1 @run_on_new(ptr %body, ptr %context, i32 %threads)
  br i1 %can, label %note, label %done

note:
  %size = inttoptr i64 %wanted to ptr
  %noted = call i32 @pthread_setspecific(i32 %key, ptr %size)
  ret void

done:
  ret void
}

attributes #0 = { noinline optnone }

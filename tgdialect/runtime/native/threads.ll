; Runs a function on several threads.
;
; It needs nothing of Python: a thread that cannot start, a signal, the end of the interpreter and
; `fork` leave no iteration undone, since the calling thread does all that no other one has taken.
;
; `optnone` and `noinline`: LLVM takes a fifth of the time, and a loop takes no longer.

; The address of `GOMP_parallel`, or null.
@tg_openmp = external global ptr
; The key of a thread's own value: how many threads OpenMP may have for it.
@tg_team = external global i32

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare ptr @pthread_getspecific(i32)
declare i32 @pthread_setspecific(i32, ptr)
declare i32 @sched_yield()
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.usub.sat.i32(i32, i32)

; What new threads share: the body, its context, and whether they may begin.
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

; Run the body on new threads and on this one: on fewer where the system starts no more. Whether all
; could start. They wait for each other if so said: all of them exist at the same time then.

define internal i1 @run_on_new(ptr %body, ptr %context, i32 %threads, i1 %together) #0 {
  %all = call i32 @llvm.umin.i32(i32 %threads, i32 1024)
  %helpers = call i32 @llvm.usub.sat.i32(i32 %all, i32 1)
  %started = alloca i64, i32 %helpers
  %work = alloca %work
  store ptr %body, ptr %work
  %context.at = getelementptr %work, ptr %work, i64 0, i32 1
  store ptr %context, ptr %context.at
  %flag = getelementptr %work, ptr %work, i64 0, i32 2
  %apart = xor i1 %together, true
  %begins = zext i1 %apart to i32
  store atomic i32 %begins, ptr %flag release, align 4
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
;
; OpenMP's library ends the process where it cannot start a thread. It is asked only by threads that
; have started as many by themselves once: it then has the memory of those for its own.

define void @tg_run(ptr %body, ptr %context, i32 %threads, i32 %flags) #0 {
  %openmp = load atomic ptr, ptr @tg_openmp monotonic, align 8
  %has.openmp = icmp ne ptr %openmp, null
  br i1 %has.openmp, label %ask, label %alone

ask:
  %key = load i32, ptr @tg_team
  %team = call ptr @pthread_getspecific(i32 %key)
  %team.word = ptrtoint ptr %team to i64
  %wanted = zext i32 %threads to i64
  %is.known = icmp uge i64 %team.word, %wanted
  br i1 %is.known, label %library, label %try

library:
  call void %openmp(ptr %body, ptr %context, i32 %threads, i32 %flags)
  ret void

try:
  %can = call i1 @run_on_new(ptr %body, ptr %context, i32 %threads, i1 true)
  br i1 %can, label %note, label %done

note:
  %size = inttoptr i64 %wanted to ptr
  %noted = call i32 @pthread_setspecific(i32 %key, ptr %size)
  ret void

alone:
  %ran = call i1 @run_on_new(ptr %body, ptr %context, i32 %threads, i1 false)
  ret void

done:
  ret void
}

attributes #0 = { noinline optnone }

; A pool of threads that run a function together with the calling thread.
;
; It does not use Python. Workers look for jobs with tickets. Whoever takes a ticket runs the body,
; which takes chunks of iterations from a counter until none is left. The calling thread does the
; same; then it takes back the tickets that are left, and waits only for workers that have begun. So
; a worker whose core is used by another process, or that could not be started, is not waited for.
;
; Workers without a job, and calling threads that wait for workers, look ${SPINS} times before they
; sleep: the kernels of a program follow each other closely.
;
; `optnone` and `noinline` cut the time that LLVM takes for this file to a fifth; loops run as fast.

; The number of jobs so far, the number of workers that sleep until it changes, the number of places
; for jobs that have been used, the number of workers that have been asked for; a mutex, a condition
; variable for workers, and one for calling threads; places for jobs.
%pool = type { i32, i32, i32, i32, [48 x i8], [64 x i8], [64 x i8], [64 x i8], [${JOBS} x %job] }
; The body, its context, whether a calling thread has this place, and the state: in bits 0 to 11 the
; tickets that are left, in bits 12 to 23 the workers that run the body, and in bit 24 whether the
; calling thread sleeps.
%job = type { ptr, ptr, i32, i32, [40 x i8] }

@tg_pool = external global ptr

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.usub.sat.i32(i32, i32)

; Take a ticket of a job; null if there is none.

define internal ptr @take_ticket(ptr %pool) #0 {
  %used.at = getelementptr %pool, ptr %pool, i64 0, i32 2
  %used = load atomic i32, ptr %used.at acquire, align 4
  br label %next

next:
  %i = phi i32 [ 0, %0 ], [ %i.next, %none ]
  %is.end = icmp eq i32 %i, %used
  br i1 %is.end, label %nothing, label %look

look:
  %job = getelementptr %pool, ptr %pool, i64 0, i32 8, i32 %i
  %state.at = getelementptr %job, ptr %job, i64 0, i32 3
  br label %again

again:
  %state = load atomic i32, ptr %state.at acquire, align 4
  %tickets = and i32 %state, 4095
  %has = icmp ne i32 %tickets, 0
  br i1 %has, label %take, label %none

take: ; One ticket less, one worker more.
  %taken = add i32 %state, 4095
  %pair = cmpxchg ptr %state.at, i32 %state, i32 %taken acq_rel acquire
  %is.taken = extractvalue { i32, i1 } %pair, 1
  br i1 %is.taken, label %found, label %again

none:
  %i.next = add i32 %i, 1
  br label %next

found:
  ret ptr %job

nothing:
  ret ptr null
}

define internal ptr @worker(ptr %pool) #0 {
  %sleepers.at = getelementptr %pool, ptr %pool, i64 0, i32 1
  %mutex = getelementptr %pool, ptr %pool, i64 0, i32 5
  %wake = getelementptr %pool, ptr %pool, i64 0, i32 6
  %done = getelementptr %pool, ptr %pool, i64 0, i32 7
  br label %look

look:
  %epoch = load atomic i32, ptr %pool seq_cst, align 4
  %job = call ptr @take_ticket(ptr %pool)
  %has = icmp ne ptr %job, null
  br i1 %has, label %run, label %spin

run:
  %body = load ptr, ptr %job
  %context.at = getelementptr %job, ptr %job, i64 0, i32 1
  %context = load ptr, ptr %context.at
  call void %body(ptr %context)
  %state.at = getelementptr %job, ptr %job, i64 0, i32 3
  %state = atomicrmw sub ptr %state.at, i32 4096 acq_rel
  ; The last one, with no tickets left, and the calling thread sleeps: its bit and one worker.
  %is.awaited = icmp eq i32 %state, 16781312
  br i1 %is.awaited, label %tell, label %look

tell:
  %l.0 = call i32 @pthread_mutex_lock(ptr %mutex)
  %b.0 = call i32 @pthread_cond_broadcast(ptr %done)
  %u.0 = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %look

spin:
  %n = phi i32 [ 0, %look ], [ %n.next, %pause ]
  %is.tired = icmp eq i32 %n, ${SPINS}
  br i1 %is.tired, label %sleep, label %pause

pause:
  call void asm sideeffect "${PAUSE}", "~{memory}"()
  %n.next = add i32 %n, 1
  %now = load atomic i32, ptr %pool monotonic, align 4
  %is.same = icmp eq i32 %now, %epoch
  br i1 %is.same, label %spin, label %look

; A calling thread changes the epoch before it reads the number of sleepers, and a worker becomes one
; before it reads the epoch: one of the two sees the other.
sleep:
  %l.1 = call i32 @pthread_mutex_lock(ptr %mutex)
  %before = atomicrmw add ptr %sleepers.at, i32 1 seq_cst
  br label %check

check:
  %seen = load atomic i32, ptr %pool seq_cst, align 4
  %is.still = icmp eq i32 %seen, %epoch
  br i1 %is.still, label %doze, label %awake

doze:
  %w = call i32 @pthread_cond_wait(ptr %wake, ptr %mutex)
  br label %check

awake:
  %after = atomicrmw sub ptr %sleepers.at, i32 1 seq_cst
  %u.1 = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %look
}

; Start workers until so many have been asked for, whether or not the system can start them.

define internal void @hire(ptr %pool, i32 %wanted) #0 {
  %asked.at = getelementptr %pool, ptr %pool, i64 0, i32 3
  %mutex = getelementptr %pool, ptr %pool, i64 0, i32 5
  %handle = alloca i64
  %l = call i32 @pthread_mutex_lock(ptr %mutex)
  %first = load i32, ptr %asked.at
  br label %next

next:
  %asked = phi i32 [ %first, %0 ], [ %asked.next, %detach ], [ %asked.next, %start ]
  %is.less = icmp ult i32 %asked, %wanted
  br i1 %is.less, label %start, label %end

start:
  %asked.next = add i32 %asked, 1
  %error = call i32 @pthread_create(ptr %handle, ptr null, ptr @worker, ptr %pool)
  %is.started = icmp eq i32 %error, 0
  br i1 %is.started, label %detach, label %next

detach:
  %thread = load i64, ptr %handle
  %d = call i32 @pthread_detach(i64 %thread)
  br label %next

end:
  store atomic i32 %asked, ptr %asked.at release, align 4
  %u = call i32 @pthread_mutex_unlock(ptr %mutex)
  ret void
}

; A place for the job of a calling thread; null if all are taken.

define internal ptr @take_place(ptr %pool) #0 {
  %used.at = getelementptr %pool, ptr %pool, i64 0, i32 2
  br label %next

next:
  %i = phi i32 [ 0, %0 ], [ %count, %other ]
  %is.end = icmp eq i32 %i, ${JOBS}
  br i1 %is.end, label %nothing, label %try

try:
  %count = add i32 %i, 1
  %job = getelementptr %pool, ptr %pool, i64 0, i32 8, i32 %i
  %owned.at = getelementptr %job, ptr %job, i64 0, i32 2
  %pair = cmpxchg ptr %owned.at, i32 0, i32 1 acq_rel monotonic
  %is.free = extractvalue { i32, i1 } %pair, 1
  br i1 %is.free, label %found, label %other

other:
  br label %next

found:
  %used = load atomic i32, ptr %used.at acquire, align 4
  %is.new = icmp ult i32 %used, %count
  br i1 %is.new, label %note, label %end

note:
  %was = atomicrmw umax ptr %used.at, i32 %count acq_rel
  br label %end

end:
  ret ptr %job

nothing:
  ret ptr null
}

; Wait until no worker runs the body of a job that has no tickets left.

define internal void @wait(ptr %pool, ptr %job) #0 {
  %state.at = getelementptr %job, ptr %job, i64 0, i32 3
  %mutex = getelementptr %pool, ptr %pool, i64 0, i32 5
  %done = getelementptr %pool, ptr %pool, i64 0, i32 7
  br label %spin

spin:
  %n = phi i32 [ 0, %0 ], [ %n.next, %pause ]
  %state = load atomic i32, ptr %state.at acquire, align 4
  %is.done = icmp eq i32 %state, 0
  br i1 %is.done, label %end, label %more

more:
  %is.tired = icmp eq i32 %n, ${SPINS}
  br i1 %is.tired, label %sleep, label %pause

pause:
  call void asm sideeffect "${PAUSE}", "~{memory}"()
  %n.next = add i32 %n, 1
  br label %spin

sleep:
  %l = call i32 @pthread_mutex_lock(ptr %mutex)
  %before = atomicrmw or ptr %state.at, i32 16777216 acq_rel
  br label %check

check:
  %now = load atomic i32, ptr %state.at acquire, align 4
  %is.over = icmp eq i32 %now, 16777216
  br i1 %is.over, label %awake, label %doze

doze:
  %w = call i32 @pthread_cond_wait(ptr %done, ptr %mutex)
  br label %check

awake:
  store atomic i32 0, ptr %state.at release, align 4
  %u = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %end

end:
  ret void
}

; Run a body on this thread and on workers of the pool, at most 1024 threads. The interface is that of
; `GOMP_parallel`.

define void @tg_run_pool(ptr %body, ptr %context, i32 %threads, i32 %flags) #0 {
  %pool = load atomic ptr, ptr @tg_pool acquire, align 8
  %all = call i32 @llvm.umin.i32(i32 %threads, i32 1024)
  %helpers = call i32 @llvm.usub.sat.i32(i32 %all, i32 1)
  %asked.at = getelementptr %pool, ptr %pool, i64 0, i32 3
  %asked = load atomic i32, ptr %asked.at acquire, align 4
  %is.small = icmp ult i32 %asked, %helpers
  br i1 %is.small, label %grow, label %enter

grow:
  call void @hire(ptr %pool, i32 %helpers)
  br label %enter

enter:
  %job = call ptr @take_place(ptr %pool)
  %is.full = icmp eq ptr %job, null
  br i1 %is.full, label %alone, label %publish

alone:
  call void %body(ptr %context)
  ret void

publish:
  store ptr %body, ptr %job
  %context.at = getelementptr %job, ptr %job, i64 0, i32 1
  store ptr %context, ptr %context.at
  %state.at = getelementptr %job, ptr %job, i64 0, i32 3
  store atomic i32 %helpers, ptr %state.at release, align 4
  %epoch = atomicrmw add ptr %pool, i32 1 seq_cst
  %sleepers.at = getelementptr %pool, ptr %pool, i64 0, i32 1
  %sleepers = load atomic i32, ptr %sleepers.at seq_cst, align 4
  %is.asleep = icmp ne i32 %sleepers, 0
  br i1 %is.asleep, label %rouse, label %run

rouse:
  %mutex = getelementptr %pool, ptr %pool, i64 0, i32 5
  %wake = getelementptr %pool, ptr %pool, i64 0, i32 6
  %l = call i32 @pthread_mutex_lock(ptr %mutex)
  %b = call i32 @pthread_cond_broadcast(ptr %wake)
  %u = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %run

run:
  call void %body(ptr %context)
  %left = atomicrmw and ptr %state.at, i32 -4096 acq_rel
  call void @wait(ptr %pool, ptr %job)
  %owned.at = getelementptr %job, ptr %job, i64 0, i32 2
  store atomic i32 0, ptr %owned.at release, align 4
  ret void
}

attributes #0 = { noinline optnone }

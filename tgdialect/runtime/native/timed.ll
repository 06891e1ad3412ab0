; A kernel as a profile calls it (`profile.py`): it takes the kernel's name, and adds to its record.

${RECORD} = external global i64

define void ${NAME}(${PARAMETERS}) {
  %start = call i64 @tg.now()
  call void ${KERNEL}(${PARAMETERS})
  %stop = call i64 @tg.now()
  %elapsed = sub i64 %stop, %start
  %calls.at = getelementptr i64, ptr ${RECORD}, i64 ${CALLS}
  %calls = load i64, ptr %calls.at
  %more.calls = add i64 %calls, 1
  store i64 %more.calls, ptr %calls.at
  %time.at = getelementptr i64, ptr ${RECORD}, i64 ${NANOSECONDS}
  %time = load i64, ptr %time.at
  %more.time = add i64 %time, %elapsed
  store i64 %more.time, ptr %time.at
${SCALARS}
  ret void
}

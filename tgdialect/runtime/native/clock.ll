; The clock of profiles (`profile.py`): nanoseconds, which never go back.

declare i32 @clock_gettime(i32, ptr)

define internal i64 @tg.now() {
  %time = alloca [2 x i64]
  %failed = call i32 @clock_gettime(i32 ${CLOCK}, ptr %time)
  %seconds = load i64, ptr %time
  %rest.at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest.at
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %rest
  ret i64 %now
}

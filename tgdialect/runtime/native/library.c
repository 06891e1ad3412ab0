#define _GNU_SOURCE
#include "$header"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void tg_program(const int64_t *frame) __asm__("$symbol");
typedef __int128 wide;

static const char *const needed[] = {$needed 0};
static int is_able = 1;

static void look_for_features(void) {
  char *line = 0;
  size_t room = 0;
  FILE *file = needed[0] ? fopen("$cpuinfo", "r") : 0;
  if (file == 0) return;
  while (getline(&line, &room, file) > 0) {
    if ($begins) continue;
    for (char *c = line; *c; ++c)
      if (*c == ':' || *c == '\t' || *c == '\n') *c = ' ';
    for (const char *const *name = needed; *name; ++name) {
      char word[64];
      snprintf(word, sizeof word, " %s ", *name);
      if (strstr(line, word) == 0) is_able = 0;
    }
    break;
  }
  free(line);
  fclose(file);
#if $has_tiles
  if (syscall(SYS_arch_prctl, 0x1023, 18)) is_able = 0; /* The tile registers. */
#endif
}

#if $has_threads
#include "threads.c"
#endif

#if $takes_turns
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static void new_turn(void) { pthread_mutex_init(&turn, 0); } /* A child has no other's turn. */
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void start(void) {
  look_for_features();
#if $has_threads
  start_threads();
#endif
#if $takes_turns
  pthread_atfork(0, 0, new_turn);
#endif
}

static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  int is_too_large = __builtin_mul_overflow(a, b, &product) || product > INT64_MAX / 2;
  return is_too_large ? INT64_MAX / 2 : product; /* Nobody has so much memory. */
}
static void *block(uint64_t bytes) {
  return aligned_alloc($alignment, (bytes + $alignment) / $alignment * $alignment);
}

#if $has_expressions
static int64_t quotient(int64_t a, int64_t b) {
  return b == 0 ? 0 : (int64_t)((wide)a / b - ((wide)a % b != 0 && (a < 0) != (b < 0)));
}
static int64_t remainder_of(int64_t a, int64_t b) {
  return b == 0 ? 0 : (int64_t)((wide)a - (wide)quotient(a, b) * b);
}
static int64_t wrapped(int64_t a, int64_t low, int64_t high) {
  wide count = (wide)high - low + 1, rest = ((wide)a - low) % count;
  return (int64_t)(low + (rest < 0 ? rest + count : rest));
}
#endif
#if $has_windows
static int is_outside(int64_t offset, int64_t inner, int64_t outer) {
  return offset < 0 || inner < 0 || outer < 0 || (wide)offset + inner > outer;
}
#endif

$state
int $name($parameters) {
  int64_t frame[$count] = {0};
  int code = ${prefix}_NO_MEMORY;
  pthread_once(&once, start);
  if (!is_able) return ${prefix}_WRONG_CPU;
$steps  tg_program(frame);
  code = ${prefix}_OK;
end:
$ends  return code;
}

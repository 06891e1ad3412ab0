#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *tg_pool, (*tg_parallel)(void (*)(void *), void *, int, int);
int32_t tg_threads = 1;
void tg_run_pool(void (*)(void *), void *, int, int);

static void new_pool(void) { /* A child of fork has no threads of its parent. */
  char *pool = aligned_alloc(64, 64 * $POOL_LINES);
  if (pool == 0) abort();
  memset(pool, 0, 64 * $POOL_LINES);
  pthread_mutex_init((pthread_mutex_t *)(pool + 64), 0);
  pthread_cond_init((pthread_cond_t *)(pool + 128), 0);
  pthread_cond_init((pthread_cond_t *)(pool + 192), 0);
  tg_pool = pool;
}

static void start_threads(void) {
  const char *asked = getenv("TG_NUM_THREADS");
  cpu_set_t cores;
  int count = asked ? atoi(asked) : 0;
  if (count <= 0 && sched_getaffinity(0, sizeof cores, &cores) == 0) count = CPU_COUNT(&cores);
  tg_threads = count > 0 ? count : 1;
  tg_parallel = tg_run_pool;
  new_pool();
  pthread_atfork(0, 0, new_pool);
}

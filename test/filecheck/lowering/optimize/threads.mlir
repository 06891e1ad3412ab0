// RUN: env TG_NUM_THREADS=none not tg-opt %s -p 'tg-optimize{mode=heuristic}' 2>&1 | filecheck %s

// How many threads there are is a number.

// CHECK: error: TG_NUM_THREADS is 'none', not a whole number from 1 to 999999999

tg.kernel @k {
  tg.sink
}

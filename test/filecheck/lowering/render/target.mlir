// RUN: not tg-opt %s -p 'tg-render{target=abacus}' 2>&1 | filecheck %s

// CHECK: 'abacus' is not one of the targets: cpu
tg.program @k {
  %0 = tg.linear {
    tg.sink
  }
}

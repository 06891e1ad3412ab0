// RUN: not tg-opt %s -p 'tg-select{target=abacus}' 2>&1 | filecheck %s

// CHECK: 'abacus' is not one of the targets: cpu
tg.kernel @k {
  tg.sink
}

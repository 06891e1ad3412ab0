// Both targets refuse a window that the index arguments put outside of its source, with one message at the op.

// RUN: not tg-run %s --target=interpreter --arg o=5 --arg n=4 --arg x=8xf32=1 2>&1 | filecheck %s --check-prefix=PAST
// RUN: not tg-run %s --target=cpu --arg o=5 --arg n=4 --arg x=8xf32=1 2>&1 | filecheck %s --check-prefix=PAST
// PAST:      windows.mlir:{{[0-9]+}}:8: error: axis 0: offset 5 plus extent 4 exceeds 8
// PAST-NEXT:   %0 = tg.shrink %x at [%o] to [%n] : tensor<8xf32> -> tensor<?xf32>
// PAST-NEXT:        ^

// RUN: not tg-run %s --target=interpreter --arg o=0 --arg n=-3 --arg x=8xf32=1 2>&1 | filecheck %s --check-prefix=NEGATIVE
// RUN: not tg-run %s --target=cpu --arg o=0 --arg n=-3 --arg x=8xf32=1 2>&1 | filecheck %s --check-prefix=NEGATIVE
// NEGATIVE: windows.mlir:{{[0-9]+}}:8: error: axis 0 of the new shape is negative: -3

// RUN: tg-run %s --target=cpu --arg o=8 --arg n=0 --arg x=8xf32=1 | filecheck %s --check-prefix=EMPTY
// EMPTY: dense<> : tensor<0xf32>

func.func @main(%x: tensor<8xf32>, %o: tensor<index>, %n: tensor<index>) -> tensor<?xf32> {
  %0 = tg.shrink %x at [%o] to [%n] : tensor<8xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Memory is versioned: a read without AFTER sees the buffer before every STORE, wherever it stands.

// RUN: tg-run %s --target=interpreter --input 5 | filecheck %s
// CHECK:      dense<[0.0, 0.0]> : tensor<2xf32>
// CHECK-NEXT: dense<[5.0, 5.0]> : tensor<2xf32>

// RUN: not tg-run %s --target=interpreter --entry race --input 5 2>&1 | filecheck %s --check-prefix=RACE
// RACE: race: two stores that neither waits for the other write cell 0 of buffer 0

// RUN: not tg-run %s --target=interpreter --entry cycle --input 5 2>&1 | filecheck %s --check-prefix=CYCLE
// CYCLE: cycle: tg.add reads buffer 0 as it was before a store that it waits for

!buffer = tensor<2xf32, #tg.place<"CPU", global>>
!value = tensor<2xf32, #tg.place<"CPU">>

func.func @main(%x: tensor<2xf32>) -> (!value, !value) {
  %b = tg.buffer 0 : !buffer
  %s = tg.store %b, %x : !buffer, tensor<2xf32>
  %before = tg.load %b : !buffer -> !value
  %c = tg.after %b, %s : (!buffer, !tg.void) -> !buffer
  %after = tg.load %c : !buffer -> !value
  return %before, %after : !value, !value
}

func.func @race(%x: tensor<2xf32>) -> !value {
  %b = tg.buffer 0 : !buffer
  %s = tg.store %b, %x : !buffer, tensor<2xf32>
  %t = tg.store %b, %x : !buffer, tensor<2xf32>
  %c = tg.after %b, %s, %t : (!buffer, !tg.void, !tg.void) -> !buffer
  %r = tg.load %c : !buffer -> !value
  return %r : !value
}

func.func @cycle(%x: tensor<2xf32>) -> !value {
  %b = tg.buffer 0 : !buffer
  %s = tg.store %b, %x : !buffer, tensor<2xf32>
  %c = tg.after %b, %s : (!buffer, !tg.void) -> !buffer
  %r = tg.add %b, %c : (!buffer, !buffer) -> !value
  return %r : !value
}

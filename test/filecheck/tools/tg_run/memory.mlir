// The memory of a call, known before any is allocated. Sizes that are not given are as large as they may be.

// RUN: tg-run %s --print-memory | filecheck %s --check-prefix=MOST
// MOST:      device  arguments  results  workspace  persistent  buffers {{ +}}mapped {{ +}}peak
// MOST-NEXT: CPU {{ +}}256 TiB  256 TiB    0 bytes     0 bytes  0 bytes  0 bytes  512 TiB
// MOST-NEXT: n <= 70368744177664

// RUN: tg-run %s --print-memory --arg n=100 | filecheck %s --check-prefix=GIVEN
// RUN: tg-run %s --print-memory --input 100 | filecheck %s --check-prefix=GIVEN
// GIVEN:      CPU {{ +}}400 bytes  400 bytes {{.*}} 800 bytes
// GIVEN-NEXT: n = 100

// RUN: not tg-run %s --print-memory --arg n=0 2>&1 | filecheck %s --check-prefix=BOUND
// BOUND: tg-run: error: n is 0, outside [1, 70368744177664]

// RUN: not tg-run %s --print-memory --target interpreter 2>&1 | filecheck %s --check-prefix=INTERPRETER
// INTERPRETER: tg-run: error: --print-memory is for compiled programs, and target 'interpreter' has none

// A call that takes too much says how much.
// RUN: not tg-run %s --entry large --input 1 2>&1 | filecheck %s --check-prefix=LARGE
// LARGE: tg-run: error: the memory of this call does not fit: 256 TiB (out0 256 TiB, x 4 bytes); this process gets no block of 256 TiB

// RUN: not tg-run %s --input 70368744177664 --input 70368744177664xf32=0 2>&1 | filecheck %s --check-prefix=INPUT
// INPUT: tg-run: error: not enough memory: Unable to allocate

func.func @main() -> tensor<?xf32> {
  %n = tg.param 0 "n" min 1 max 70368744177664 : tensor<index>
  %x = tg.param 1 (%n) : tensor<?xf32>
  %y = tg.neg %x : tensor<?xf32>
  func.return %y : tensor<?xf32>
}

func.func @large(%x: tensor<1xf32>) -> tensor<70368744177664xf32> {
  %y = tg.expand %x [70368744177664] : tensor<1xf32> -> tensor<70368744177664xf32>
  %z = tg.neg %y : tensor<70368744177664xf32>
  func.return %z : tensor<70368744177664xf32>
}

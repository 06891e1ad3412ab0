// RUN: not tg-run %s 2>&1 | filecheck %s --check-prefix=COUNT
// COUNT: tg-run: error: expected 1 input, got 0: %x: 2x3xf32

// RUN: not tg-run %s --input 2xf32=1 2>&1 | filecheck %s --check-prefix=SHAPE
// SHAPE: tg-run: error: input 0 (%x): got 2xf32, expected 2x3xf32

// RUN: not tg-run %s --input no.npy 2>&1 | filecheck %s --check-prefix=FILE
// FILE: tg-run: error: input 0 (%x): cannot read no.npy: No such file or directory

// RUN: not tg-run %s --entry g --input 1 2>&1 | filecheck %s --check-prefix=ENTRY
// ENTRY: tg-run: error: there is no function @g

// RUN: not tg-run %s --target abacus --input 1 2>&1 | filecheck %s --check-prefix=TARGET
// TARGET: tg-run: error: there is no target 'abacus'; there are: cpu, {{.*}}interpreter; and devices, as CL:0

// RUN: not tg-run %s --scalar 2>&1 | filecheck %s --check-prefix=SCALAR
// SCALAR: tg-run: error: --scalar is a way to run --target=interpreter

// An error in the program is shown where it is.
// RUN: not tg-run %s --target interpreter --opt beam:2 2>&1 | filecheck %s --check-prefix=OPT
// OPT: tg-run: error: --opt schedules compiled kernels: the interpreter takes none

// RUN: sed 's/tg.neg/tg.not/' %s | not tg-run - --input 1 2>&1 | filecheck %s --check-prefix=PROGRAM
// PROGRAM:      <stdin>:{{[0-9]+}}:8: error: tg.not is defined on bool, not f32
// PROGRAM-NEXT:   %0 = tg.not %x : tensor<2x3xf32>
// PROGRAM-NEXT:        ^

func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tg.neg %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// RUN: tg-opt %s | tg-opt | filecheck %s
// RUN: sed 's/threads = 2/l5 = 2/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=FIELD
// RUN: sed 's/threads = 2/threads = 0/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: sed 's/threads = 2/threads = true/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=KIND
// RUN: sed 's/"avx2"/"axv2"/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=FEATURE
// RUN: sed 's/"cpu"/"abacus"/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=NAME
// RUN: sed 's/threads = 2/cache_line = 48/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=POWER
// RUN: sed 's/threads = 2/vector_registers = 0/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=REGISTERS
// RUN: sed 's/threads = 2/native = ["exp2"]/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=NATIVE
// RUN: sed 's/threads = 2/threads = 2, threads = 3/' %s | not tg-opt 2>&1 | filecheck %s --check-prefix=TWICE

// CHECK: tg.target = #tg.target<"cpu", features = ["avx2", "fma"], threads = 2, masks_stores = false>
// FIELD: <stdin>:{{.*}}: error: 'l5' is no field of a target; there are: features, native, converted
// VALUE: error: threads is 0, not a positive number
// KIND: error: threads of a target is a number, got true or false
// FEATURE: error: 'axv2' is no feature of a CPU; did you mean avx2
// NAME: error: 'abacus' is not one of the targets: cpu
// POWER: error: cache_line is 48, not a power of two
// REGISTERS: error: 0 vector registers of 256 bits: either there are some of some bits, or both numbers are 0
// NATIVE: error: native of a cpu has no 'exp2'; there are: cmpeq, cmpge
// TWICE: error: threads is given twice
module attributes {tg.target = #tg.target<"cpu", features = ["avx2", "fma"], threads = 2, masks_stores = false>} {
}

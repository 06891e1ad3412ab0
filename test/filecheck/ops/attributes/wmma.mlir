// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// CHECK: "test.op"() {a = #tg.wmma<16x16x4>, b = #tg.wmma<16x8x16, threads = 32, a = ["k1", "k2", "m0", "m1", "m2", "k0", "m3", "k3"], b = ["k1", "k2", "n0", "n1", "n2", "k0", "k3"], c = ["n1", "n2", "m0", "m1", "m2", "n0", "m3"]>} : () -> ()
"test.op"() {a = #tg.wmma<16x16x4>, b = #tg.wmma<16x8x16, threads = 32, a = ["k1", "k2", "m0", "m1", "m2", "k0", "m3", "k3"], b = ["k1", "k2", "n0", "n1", "n2", "k0", "k3"], c = ["n1", "n2", "m0", "m1", "m2", "n0", "m3"]>} : () -> ()

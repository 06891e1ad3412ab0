// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{the dims of a wmma are three positive integers, MxNxK}}
"test.op"() {b = #tg.wmma<16x0x4>} : () -> ()

// -----

// expected-error@below {{a wmma has at least one thread, got 0}}
"test.op"() {b = #tg.wmma<2x2x2, threads = 0, a = ["m0", "k0"], b = ["n0", "k0"], c = ["m0", "n0"]>} : () -> ()

// -----

// expected-error@below {{layout b of a 2x2x2 wmma orders ['k0', 'n0'], got []}}
"test.op"() {b = #tg.wmma<2x2x2, threads = 1, a = ["m0", "k0"], b = [], c = ["m0", "n0"]>} : () -> ()

// -----

// expected-error@below {{layout a of a 2x2x2 wmma orders ['k0', 'm0'], got ['m0', 'm1']}}
"test.op"() {b = #tg.wmma<2x2x2, threads = 2, a = ["m0", "m1"], b = ["n0", "k0"], c = ["m0", "n0"]>} : () -> ()

// -----

// expected-error@below {{layout c of a 2x2x2 wmma orders ['m0', 'n0'], got ['m0']}}
"test.op"() {b = #tg.wmma<2x2x2, threads = 2, a = ["m0", "k0"], b = ["n0", "k0"], c = ["m0"]>} : () -> ()

// -----

// expected-error@below {{Expected 'threads'}}
"test.op"() {b = #tg.wmma<2x2x2, lanes = 2>} : () -> ()

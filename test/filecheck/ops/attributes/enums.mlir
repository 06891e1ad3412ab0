// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// CHECK: "test.op"() {a = #tg<axis_type group_reduce>, b = #tg<reduce_kind max>, c = #tg.invalid<f32>} : () -> ()
"test.op"() {a = #tg<axis_type group_reduce>, b = #tg<reduce_kind max>, c = #tg.invalid<f32>} : () -> ()

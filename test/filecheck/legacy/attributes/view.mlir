// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines

// CHECK: "test.op"() {a = #tg_legacy.view<[4, 6]>, b = #tg_legacy.view<[4, 6], strides = [1, 4]>, c = #tg_legacy.view<[4, 6], strides = [-6, 1], offset = 18>, d = #tg_legacy.view<[4], offset = -1, mask = [[1, 4]]>, e = #tg_legacy.view<[]>, f = #tg_legacy.view<[0, 3]>, g = #tg_legacy.view<[], mask = []>} : () -> ()
"test.op"() {a = #tg_legacy.view<[4, 6]>, b = #tg_legacy.view<[4, 6], strides = [1, 4]>, c = #tg_legacy.view<[4, 6], strides = [-6, 1], offset = 18>, d = #tg_legacy.view<[4], offset = -1, mask = [[1, 4]]>, e = #tg_legacy.view<[]>, f = #tg_legacy.view<[0, 3]>, g = #tg_legacy.view<[], mask = []>} : () -> ()

// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{a view has extents of 0 or more, got [4, -1]}}
"test.op"() {a = #tg_legacy.view<[4, -1]>} : () -> ()

// -----

// expected-error@below {{1 strides for 2 axes}}
"test.op"() {a = #tg_legacy.view<[4, 6], strides = [1]>} : () -> ()

// -----

// expected-error@below {{a mask has a first index and an end for each of the 2 axes, got [[0, 4]]}}
"test.op"() {a = #tg_legacy.view<[4, 6], mask = [[0, 4]]>} : () -> ()

// -----

// expected-error@below {{a mask has a first index and an end for each of the 2 axes, got []}}
"test.op"() {a = #tg_legacy.view<[4, 6], mask = []>} : () -> ()

// -----

// expected-error@below {{a mask has a first index and an end for each of the 1 axes, got [[0, 1, 2]]}}
"test.op"() {a = #tg_legacy.view<[4], mask = [[0, 1, 2]]>} : () -> ()

// -----

// expected-error@below {{the mask of axis 1 is [2, 7], of 6 elements}}
"test.op"() {a = #tg_legacy.view<[4, 6], mask = [[0, 4], [2, 7]]>} : () -> ()

// -----

// expected-error@below {{the mask of axis 0 is [3, 2], of 4 elements}}
"test.op"() {a = #tg_legacy.view<[4], mask = [[3, 2]]>} : () -> ()

// -----

// expected-error@below {{the mask of axis 0 is [-1, 2], of 4 elements}}
"test.op"() {a = #tg_legacy.view<[4], mask = [[-1, 2]]>} : () -> ()

// -----

// expected-error@below {{stride is not one of strides, offset and mask}}
"test.op"() {a = #tg_legacy.view<[4], stride = [1]>} : () -> ()

// -----

// expected-error@below {{offset is given twice}}
"test.op"() {a = #tg_legacy.view<[4], offset = 1, offset = 2>} : () -> ()

// -----

// expected-error@below {{Expected integer literal}}
"test.op"() {a = #tg_legacy.view<[4.0]>} : () -> ()

// -----

// expected-error@below {{'[' expected}}
"test.op"() {a = #tg_legacy.view<4>} : () -> ()

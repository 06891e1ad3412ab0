// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{the dims of a wmma are three positive integers, [N, M, K], got [2, 2]}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2], f32, f32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 4]]], []>} : () -> ()

// -----

// expected-error@below {{the dims of a wmma are three positive integers, [N, M, K], got [2, 0, 2]}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 0, 2], f32, f32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 4]]], []>} : () -> ()

// -----

// expected-error@below {{a wmma has at least one thread, got 0}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], f32, f32, "CPU", 0, [[[0, 4]], [[0, 4]], [[0, 4]]], []>} : () -> ()

// -----

// expected-error@below {{i3 is not a dtype: i1, index, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f8E4M3FN, f8E5M2, f16, bf16, f32, f64}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], i3, f32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 4]]], []>} : () -> ()

// -----

// expected-error@below {{!tg.void is not a dtype: i1, index, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f8E4M3FN, f8E5M2, f16, bf16, f32, f64}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], f32, !tg.void, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 4]]], []>} : () -> ()

// -----

// expected-error@below {{a wmma has upcast axes for A, for B and for the accumulator, got 2 lists}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], f32, f32, "CPU", 1, [[[0, 4]], [[0, 4]]], []>} : () -> ()

// -----

// expected-error@below {{an axis is listed twice in [[0, 2], [0, 2]]}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], f32, f32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 2], [0, 2]]], []>} : () -> ()

// -----

// expected-error@below {{an axis is its number and its size, got [4]}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], f32, f32, "CPU", 1, [[[0, 4]], [[0, 4]], [[4]]], []>} : () -> ()

// -----

// expected-error@below {{B has 4 elements, but 2 threads hold 1 each}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], f32, f32, "CPU", 2, [[[0, 2]], [[0, 1]], [[0, 2]]], []>} : () -> ()

// -----

// expected-error@below {{i1 does not accumulate in f32}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], i1, f32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 4]]], []>} : () -> ()

// -----

// expected-error@below {{f32 does not accumulate in i32}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], f32, i32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 4]]], []>} : () -> ()

// -----

// expected-error@below {{f32 does not accumulate in f16}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], f32, f16, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 4]]], []>} : () -> ()

// -----

// expected-error@below {{the reduce axes [1, 1] are not unique and 0 or more}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], f32, f32, "CPU", 1, [[[0, 4]], [[0, 4]], [[0, 4]]], [1, 1]>} : () -> ()

// -----

// expected-error@below {{Expected ','}}
"test.op"() {a = #tg_legacy.wmma<"w", [2, 2, 2], f32, f32, "CPU">} : () -> ()

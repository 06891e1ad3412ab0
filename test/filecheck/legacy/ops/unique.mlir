// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// CHECK: %a = tg_legacy.unique 0
// GENERIC: %a = "tg_legacy.unique"() <{id = #tg.number<0>}> : () -> !tg.void
%a = tg_legacy.unique 0
// CHECK: %b = tg_legacy.unique 17
// GENERIC: %b = "tg_legacy.unique"() <{id = #tg.number<17>}> : () -> !tg.void
%b = tg_legacy.unique 17

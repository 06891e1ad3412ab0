// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

// CHECK: %a = tg_legacy.device "CPU"
// GENERIC: %a = "tg_legacy.device"() <{device = "CPU"}> : () -> !tg.void
%a = tg_legacy.device "CPU"
// CHECK: %b = tg_legacy.device "CUDA:0"
// GENERIC: %b = "tg_legacy.device"() <{device = "CUDA:0"}> : () -> !tg.void
%b = tg_legacy.device "CUDA:0"

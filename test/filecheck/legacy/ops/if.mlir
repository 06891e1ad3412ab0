// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

tg.program @k {
  %l = tg.linear {
    %m = tg_legacy.define_local "temp0" : tensor<4xi32, #tg.place<local>>
    %i = tg.const 1 : tensor<i32>
    %c = tg.const true : tensor<i1>
    // CHECK: %0 = tg_legacy.if %c : tensor<i1>
    // GENERIC: %0 = "tg_legacy.if"(%c) : (tensor<i1>) -> !tg.void
    %0 = tg_legacy.if %c : tensor<i1>
    %s = tg_legacy.store %m at %i value %i : tensor<4xi32, #tg.place<local>> at tensor<i32> value tensor<i32>
    %e = tg_legacy.endif %0 : !tg.void
    %b = tg.barrier %s : !tg.void
    // CHECK: %1 = tg_legacy.if %c after %b : tensor<i1>
    // GENERIC: %1 = "tg_legacy.if"(%c, %b) : (tensor<i1>, !tg.void) -> !tg.void
    %1 = tg_legacy.if %c after %b : tensor<i1>
    %d = tg_legacy.endif %1 : !tg.void
  }
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%c: tensor<i1>, %n: tensor<i32>) {
  %l = tg.linear {
    %i = tg_legacy.range 0 from %n to %n : tensor<i32>
    %0 = tg_legacy.if %c : tensor<i1>
    // CHECK: %e = tg_legacy.endif %0 : !tg.void
    // GENERIC: %e = "tg_legacy.endif"(%0) : (!tg.void) -> !tg.void
    %e = tg_legacy.endif %0 : !tg.void
    %d = tg_legacy.endrange %i : tensor<i32>
  }
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%g: tensor<i1>) {
  %b = tg.if %g : tensor<i1>
  // CHECK: %e = tg.endif %b
  // GENERIC: %e = "tg.endif"(%b) : (!tg.void) -> !tg.void
  %e = tg.endif %b
  func.return
}

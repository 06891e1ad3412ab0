// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%g: tensor<i1>) {
  // CHECK: %b = tg.if %g : tensor<i1>
  // GENERIC: %b = "tg.if"(%g) : (tensor<i1>) -> !tg.void
  %b = tg.if %g : tensor<i1>
  %e = tg.endif %b
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f() {
  // CHECK: %s = tg.source "void k() { }"
  // GENERIC: %s = "tg.source"() <{text = "void k() { }"}> : () -> !tg.void
  %s = tg.source "void k() { }"
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%n: tensor<i32>, %c: tensor<i1>) {
  %i = tg_legacy.range 0 from %n to %n : tensor<i32>
  // CHECK: %0 = tg_legacy.blockstart %i : tensor<i32>
  // GENERIC: %0 = "tg_legacy.blockstart"(%i) : (tensor<i32>) -> !tg.void
  %0 = tg_legacy.blockstart %i : tensor<i32>
  %g = tg_legacy.if %c : tensor<i1>
  // CHECK: %1 = tg_legacy.blockstart %g : !tg.void
  // GENERIC: %1 = "tg_legacy.blockstart"(%g) : (!tg.void) -> !tg.void
  %1 = tg_legacy.blockstart %g : !tg.void
  %2 = tg_legacy.blockend %g after %1 : !tg.void
  func.return
}

// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%x: tensor<i32>) {
  %a = tg_legacy.block %x : tensor<i32>
  // CHECK: %f = tg_legacy.blockfork %a 2
  // GENERIC: %f = "tg_legacy.blockfork"(%a) <{count = #tg.number<2>}> : (!tg.void) -> !tg.void
  %f = tg_legacy.blockfork %a 2
  %b = tg_legacy.block after %f
  %c = tg_legacy.block after %f
  %d = tg_legacy.block after %b, %c
  func.return
}

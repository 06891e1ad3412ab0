// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%n: tensor<i32>) {
  %l = tg.linear {
    %zero = tg.const 0 : tensor<i32>
    %i = tg_legacy.loop from %zero to %n : tensor<i32>
    // CHECK: %e = tg_legacy.endloop %i : tensor<i32>
    // GENERIC: %e = "tg_legacy.endloop"(%i) : (tensor<i32>) -> !tg.void
    %e = tg_legacy.endloop %i : tensor<i32>
  }
  func.return
}

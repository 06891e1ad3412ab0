// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f(%c: tensor<i1>, %m: tensor<4xf32, #tg.place<local>>, %i: tensor<i32>, %x: tensor<f32>) {
  %l = tg.linear {
    // CHECK: %0 = tg_legacy.if %c : tensor<i1>
    // GENERIC: %0 = "tg_legacy.if"(%c) : (tensor<i1>) -> !tg.void
    %0 = tg_legacy.if %c : tensor<i1>
    %s = tg_legacy.store %m at %i value %x : tensor<4xf32, #tg.place<local>> at tensor<i32> value tensor<f32>
    %e = tg_legacy.endif %0 : !tg.void
    %b = tg.barrier %s : !tg.void
    // CHECK: %1 = tg_legacy.if %c after %b : tensor<i1>
    // GENERIC: %1 = "tg_legacy.if"(%c, %b) : (tensor<i1>, !tg.void) -> !tg.void
    %1 = tg_legacy.if %c after %b : tensor<i1>
    %d = tg_legacy.endif %1 : !tg.void
  }
  func.return
}

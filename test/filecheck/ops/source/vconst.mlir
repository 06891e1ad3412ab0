// RUN: tg-opt %s --print-op-generic | tg-opt | filecheck %s --match-full-lines
// RUN: tg-opt %s --print-op-generic | filecheck %s --match-full-lines --check-prefix=GENERIC

func.func @f() {
  // CHECK: %lanes = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
  // GENERIC: %lanes = "tg.vconst"() <{values = array<i64: 0, 1, 2, 3>}> : () -> tensor<4xindex>
  %lanes = tg.vconst [0, 1, 2, 3] : tensor<4xindex>
  // CHECK: %any = tg.vconst [-5, 7, 7] : tensor<3xindex>
  // GENERIC: %any = "tg.vconst"() <{values = array<i64: -5, 7, 7>}> : () -> tensor<3xindex>
  %any = tg.vconst [-5, 7, 7] : tensor<3xindex>
  // CHECK: %none = tg.vconst [] : tensor<0xindex>
  // GENERIC: %none = "tg.vconst"() <{values = array<i64>}> : () -> tensor<0xindex>
  %none = tg.vconst [] : tensor<0xindex>
  // CHECK: %run = tg.vconst [-4 to 60] : tensor<64xindex>
  // GENERIC: %run = "tg.vconst"() <{values = array<i64: -4, -3, {{.*}}, 59>}> : () -> tensor<64xindex>
  %run = tg.vconst [-4 to 60] : tensor<64xindex>
  // CHECK: %short = tg.vconst [0, 1, 2, 7] : tensor<4xindex>
  %short = tg.vconst [0 to 3, 7] : tensor<4xindex>
  func.return
}
